/// An item that is saved in one storage for a moment, to see whether it is found in another.
struct StorageProbe {
  private static let service = "swift-keyring migration"

  private let storage: any SecureStorage
  private let key: ItemKey

  init(_ storage: any SecureStorage) {
    self.storage = storage
    key = .value(
      service: Self.service, account: String(UInt64.random(in: .min ... .max), radix: 36))
  }

  /// Tells whether what is saved in the storage is found in another, so that both are the same.
  func isFound(in other: any SecureStorage) throws(SecureStorageError) -> Bool {
    try storage.save(SecureItem(key: key, secret: Secret("")), .add)
    let isFound = Result { () throws(SecureStorageError) in try other.exists(key) }
    let isThere = Result { () throws(SecureStorageError) in try storage.exists(key) }
    // Those too that were left by a program that was killed.
    try storage.removeItems(matching: .service(Self.service, kind: .value))
    if try isFound.get() { return true }
    if try isThere.get() { return false }
    throw SecureStorageError(
      .verificationFailed, operation: .migrate, backend: storage.backendName,
      message: "An item that was stored is not there.")
  }
}
