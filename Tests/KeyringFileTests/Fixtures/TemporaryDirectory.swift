// SPDX-License-Identifier: Apache-2.0

#if EncryptedFile
import KeyringSealing
import KeyringStorage
import TestPrograms

@testable import KeyringFile

extension TemporaryDirectory {
  /// Creates a storage of a file, by default with a key that takes no time.
  func storage(
    _ name: String = "secrets", key: KeySource? = nil, timeout: Duration = .seconds(25)
  ) -> EncryptedFileStorage {
    EncryptedFileStorage(
      at: path(name), key: key ?? .keyFile(at: path("key")), timeout: timeout)
  }
}

extension ScryptCost {
  /// A cost that takes little time.
  ///
  /// The standard cost takes seconds in a debug build.
  static let cheap = ScryptCost(logarithm: 4, blockSize: 8, parallelism: 1)
}

extension KeySource {
  /// Creates a source with a passphrase that takes little time.
  static func cheap(_ passphrase: String) -> KeySource {
    .passphrase(cost: .cheap) { _ throws(SecureStorageError) in Secret(passphrase) }
  }
}

extension ItemKey {
  static let first = ItemKey.password(service: "org.example.app", account: "first")
  static let second = ItemKey.password(service: "org.example.app", account: "second")
}

/// Returns the code of the error that a closure throws.
func code(_ body: () throws -> Void) throws -> SecureStorageError.Code? {
  do {
    try body()
    return nil
  } catch let error as SecureStorageError {
    return error.code
  }
}
#endif
