// SPDX-License-Identifier: Apache-2.0

#if EncryptedFile
public import KeyringSealing
public import KeyringStorage

/// A storage that keeps its items in one encrypted file, and needs neither a service nor a desktop.
///
/// Secrets, attributes and labels are encrypted and authenticated, in the format that
/// <doc:EncryptedFileFormat> describes. Several processes can use the file, and a crash or a full disk
/// leaves the old items intact. Two files stay beside it, with the suffixes `.lock` and `.turns`.
///
/// ```swift
/// let storage = EncryptedFileStorage(
///   at: "/var/lib/example/secrets", key: .systemdCredential("secrets-key"))
/// ```
public struct EncryptedFileStorage: AskingStorage, BatchStorage {
  let file: EncryptedFile
  package var question: StorageQuestion { file.keys.question }

  /// The path of the file.
  public var path: String { file.place.path }

  /// The promise of a file that is on the disk before a change is acknowledged.
  public var durability: StorageDurability { .afterKill }

  /// The promise for the items of one file, which each write replaces.
  public var readsOneVersion: Bool { true }

  /// Creates a storage, which opens the file at its first use.
  ///
  /// ```swift
  /// let storage = EncryptedFileStorage(at: "/home/me/.secrets", key: .typedPassphrase())
  /// ```
  ///
  /// - Parameters:
  ///   - path: The path of the file itself, not of a link. The first save creates a missing one. The file name is
  ///     part of the encrypted content, so a renamed file is refused until it has its name again.
  ///   - key: The source of the key that the file is encrypted with.
  ///   - timeout: The longest time that an operation waits for others that write the file, in this process
  ///     or another. The time to get the key, such as by asking the user, is extra.
  public init(at path: String, key: KeySource, timeout: Duration = .seconds(25)) {
    file = EncryptedFile(FileLocation(path), key, timeout)
  }

  /// Stores an item under its key, on the disk.
  ///
  /// ```swift
  /// let key = ItemKey.password(service: "example", account: "me")
  /// try storage.save(SecureItem(key: key, secret: Secret("s3cret")), mode: .addOrReplace)
  /// ```
  ///
  /// - Parameters:
  ///   - item: The item to store.
  ///   - mode: The save mode.
  /// - Throws: `.itemAlreadyExists`, `.itemNotFound`, or `.invalidArgument`; `.wrongKey` or `.keyNotFound`;
  ///   `.damaged`; `.accessDenied`; `.timedOut` after waiting for another writer; or `.other` with the number of
  ///   the system's error, for example for a full disk.
  public func save(_ item: SecureItem, mode: SaveMode) throws(SecureStorageError) {
    try save([(item, mode)])
  }

  package func save(_ changes: [(item: SecureItem, mode: SaveMode)]) throws(SecureStorageError) {
    for (item, _) in changes { try validate(item) }
    try file.change(.save) { (content) throws(SecureStorageError) in
      for (item, mode) in changes {
        let old = content.entries[item.key]
        if mode == .add, old != nil { throw error(.itemAlreadyExists, during: .save) }
        if mode == .update, old == nil { throw error(.itemNotFound, during: .save) }
        if old == nil { _ = try requireSecret(item) }
        try content.save(item)
      }
    }
  }

  /// Returns the items that match a query, newest first.
  public func items(matching query: ItemQuery) throws(SecureStorageError) -> [SecureItem] {
    try validate(query, for: .read)
    return try file.content(.read)?.items(matching: query) ?? []
  }

  /// Returns the item stored under a key.
  public func item(
    for key: ItemKey, details: ItemQuery.Details
  ) throws(SecureStorageError) -> SecureItem? {
    try validate(key, for: .read)
    return try file.content(.read)?.entries[key]?.item(details)
  }

  /// Returns the secret stored under a key.
  public func secret(for key: ItemKey) throws(SecureStorageError) -> Secret? {
    try validate(key, for: .read)
    return try file.content(.read)?.entries[key]?.secret
  }

  /// Returns the items stored under several keys, all of them as they were at one moment.
  public func items(
    for keys: [ItemKey], details: ItemQuery.Details
  ) throws(SecureStorageError) -> [ItemKey: SecureItem] {
    for key in keys { try validate(key, for: .read) }
    let content = try file.content(.read)
    var items: [ItemKey: SecureItem] = [:]
    for key in keys { items[key] = content?.entries[key]?.item(details) }
    return items
  }

  /// Removes the items that match a query, with the same errors as saving, except for those about the item.
  @discardableResult
  public func removeItems(matching query: ItemQuery) throws(SecureStorageError) -> Int {
    try validate(query, for: .remove)
    return try file.change(.remove) { $0.removeItems(matching: query) }
  }

  /// Checks the owner and the format of the file, its key, and the right to write it.
  ///
  /// ```swift
  /// print(storage.diagnose(writing: true))
  /// ```
  ///
  /// A key that the user would still have to give is left out.
  ///
  /// - Parameter writing: Pass `true` to also check that an item can be stored, read, and removed. This
  ///   may ask for a passphrase.
  /// - Returns: The diagnosis. Its failure is `.noStorage` for a missing file that can't be created, because the
  ///   credential or a writable directory is missing. For a file that can't be used, the failure is
  ///   another one: `.accessDenied`, `.keyNotFound`, `.wrongKey`, or `.damaged`.
  public func diagnose(writing: Bool) -> StorageDiagnosis {
    var diagnosis = StorageDiagnosis(of: backendName)
    file.diagnose(&diagnosis)
    if writing, diagnosis.failure == nil { diagnosis.probeWriting(in: self) }
    return diagnosis
  }

  /// Encrypts the file with another key, for example after a passphrase was changed.
  ///
  /// ```swift
  /// try storage.changeKey(to: .keyFile(at: "/media/key/example"))
  /// ```
  ///
  /// Give the new key to other processes. The old key still opens older copies of the file.
  ///
  /// - Parameter key: The source of the new key.
  /// - Throws: The same errors as saving, except for those about the item.
  public func changeKey(to key: KeySource) throws(SecureStorageError) {
    try file.changeKey(to: key)
  }

  /// Encrypts the file with another key, on a thread of its own.
  ///
  /// - Parameter key: The source of the new key.
  /// - Throws: The errors of the synchronous overload, and `.canceled`, after which the key may have been changed.
  public func changeKey(to key: KeySource) async throws(SecureStorageError) {
    try await blocking(.changeKey) { () throws(SecureStorageError) in try changeKey(to: key) }
  }
}

extension EncryptedFileStorage: CustomStringConvertible, CustomReflectable {
  /// The name of the type and the path.
  public var description: String { "\(backendName)(\(path))" }
  /// An empty mirror.
  public var customMirror: Mirror { Mirror(self, children: []) }
}

extension SecureStorageError.Operation {
  /// The operation that encrypts a file with another key.
  public static let changeKey = SecureStorageError.Operation(rawValue: "changeKey")
}
#endif
