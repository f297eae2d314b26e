// SPDX-License-Identifier: Apache-2.0

import FileStorage
import KeyringStorage
import KeyringTesting
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The tests of the storage with Swift Testing.
@Suite struct FileStorageTests {
  private let file = TemporaryFile()
  private var storage: FileStorage { FileStorage(at: file.url) }
  private let key = ItemKey.password(service: "service", account: "account")

  @Test(arguments: StorageContract.cases(for: FileStorage.self))
  func `the storage keeps the contract`(rule: StorageContract) throws {
    try rule.verify(storage, restart: { [file] _ in FileStorage(at: file.url) })
  }

  @Test func `items outlive the storage`() throws {
    try FileStorage(at: file.url).setPassword("s3cret", for: key)
    #expect(try FileStorage(at: file.url).password(for: key) == "s3cret")
  }

  @Test func `a damaged file is an error, and stays as it is`() throws {
    let damaged = Data("no JSON".utf8)
    try damaged.write(to: file.url)
    let error = #expect(throws: SecureStorageError.self) { try storage.password(for: key) }
    #expect(error?.code == .other)
    #expect(throws: SecureStorageError.self) { try storage.setPassword("s3cret", for: key) }
    #expect(try Data(contentsOf: file.url) == damaged)
  }

  @Test func `only the owner may read and write the file`() throws {
    for password in ["old", "new"] {
      try storage.setPassword(password, for: key)
      let attributes = try FileManager.default.attributesOfItem(atPath: file.url.path)
      #expect(attributes[.posixPermissions] as? Int == 0o600)
    }
  }
}
