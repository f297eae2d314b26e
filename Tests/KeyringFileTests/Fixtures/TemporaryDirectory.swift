// SPDX-License-Identifier: Apache-2.0

#if EncryptedFile
import Foundation
import KeyringSealing
import KeyringStorage
import Testing

@testable import KeyringFile

/// A directory for one test, which is removed with its content.
final class TemporaryDirectory: Sendable {
  let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory
      .appendingPathComponent("keyring-file-\(UUID().uuidString)")
    try FileManager.default.createDirectory(
      at: url, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
  }

  deinit { #expect(throws: Never.self) { try FileManager.default.removeItem(at: url) } }

  func path(_ name: String) -> String { url.appendingPathComponent(name).path }

  func bytes(_ name: String) throws -> [UInt8] {
    [UInt8](try Data(contentsOf: url.appendingPathComponent(name)))
  }

  func write(_ bytes: [UInt8], _ name: String) throws {
    try Data(bytes).write(to: url.appendingPathComponent(name))
  }

  func names() throws -> Set<String> {
    Set(try FileManager.default.contentsOfDirectory(atPath: url.path))
  }

  func mode(_ name: String) throws -> Int? {
    let attributes = try FileManager.default.attributesOfItem(atPath: path(name))
    return attributes[.posixPermissions] as? Int
  }

  /// Creates a storage of the file "secrets" or another, with a key that takes no time.
  func storage(_ name: String = "secrets", timeout: Duration = .seconds(25))
    -> EncryptedFileStorage
  {
    EncryptedFileStorage(at: path(name), key: .keyFile(at: path("key")), timeout: timeout)
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
