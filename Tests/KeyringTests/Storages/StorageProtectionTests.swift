// SPDX-License-Identifier: Apache-2.0

import Foundation
import Keyring
import KeyringStorage
import KeyringTesting
import TestPrograms
import Testing

/// The levels of protection, and what storages of several others say of theirs.
@Suite struct StorageProtectionTests {
  @Test func `a level that isn't known is less than every other one`() {
    let levels: [StorageProtection] = [
      .unknown, .memory, .keyFile, .keyring, .password, .hardware,
    ]
    #expect(StorageProtection.allCases.shuffled().sorted() == levels)
    for level in levels.dropFirst() {
      #expect(StorageProtection.unknown < level && !(StorageProtection.unknown >= level))
    }
  }

  @Test func `items in memory are no better protected than that`() throws {
    let storage = InMemoryStorage()
    #expect(storage.diagnose().protection == .memory)
    #expect(storage.diagnose(writing: true).protection == .memory)
    #expect(storage.cached().diagnose().protection == .memory)
    #expect(FaultyStorage(storage).diagnose().protection == .memory)
    try storage.lock()
    #expect(storage.diagnose().protection == .unknown, "no item can be stored there now")
  }

  @Test func `nothing is known of a storage that says nothing`() throws {
    #expect(SilentStorage().diagnose().protection == .unknown)
    let directory = TemporaryDirectory()
    try directory.write("s3cret", "token")
    let given = CredentialsDirectoryStorage(service: "service", directory: directory.path)
    #expect(given.diagnose().failure == nil && given.diagnose().protection == .unknown)
  }

  @Test func `a storage of another maker says what protects it`() async throws {
    let diagnosis = try await ProtectedStorage(level: .password).diagnose()
    #expect(diagnosis.protection == .password)
  }

  @Test func `layers have the protection of the one that is written`() {
    let low = ProtectedStorage(level: .keyFile)
    let high = ProtectedStorage(level: .hardware)
    #expect(LayeredStorage([.reading(high), .writing(low)]).diagnose().protection == .keyFile)
    #expect(LayeredStorage([.reading(low), .writing(high)]).diagnose().protection == .hardware)
    #expect(LayeredStorage([.reading(high)]).diagnose().protection == .unknown)
  }

  @Test func `a selection has the protection of the selected storage`() {
    let missing = FaultyStorage()
    missing.fail(.read, with: .noProvider)
    let storages: [any SecureStorage] = [
      missing, ProtectedStorage(level: .keyring), ProtectedStorage(level: .hardware),
    ]
    let storage = FirstAvailableStorage(storages, remembering: .nowhere)
    #expect(storage.diagnose().protection == .keyring)
    #expect(
      FirstAvailableStorage([missing], remembering: .nowhere).diagnose().protection == .unknown)
  }

  @Test(
    arguments: [
      (nil, true), (.locked, true), (.userCanceled, true), (.readOnly, true),
      (.noSessionBus, false), (.noStorage, false), (.accessDenied, false), (.timedOut, false),
    ] as [(SecureStorageError.Code?, Bool)])
  func `a locked storage is available, and a missing one isn't`(
    code: SecureStorageError.Code?, isAvailable: Bool
  ) {
    let storage = FaultyStorage()
    if let code { storage.fail(.read, with: code) }
    #expect(storage.diagnose().isAvailable == isAvailable)
  }

  @Test func `a query by server finds the passwords of that server alone`() throws {
    let storage = InMemoryStorage()
    for (host, account) in [("a.example", "me"), ("a.example", "you"), ("b.example", "me")] {
      let server = InternetServer(host)
      try storage.setPassword(
        "s3cret", for: .internetPassword(server: server, account: account))
    }
    let other = ItemKey.password(service: "service", account: "account")
    try storage.save(
      SecureItem(key: other, secret: Secret("s3cret"), attributes: ["server": "a.example"]),
      mode: .add)
    let found = try storage.items(matching: .server("a.example"))
    #expect(Set(found.map(\.key.account)) == ["me", "you"] && found.count == 2)
    #expect(try storage.removeItems(matching: .server("b.example")) == 1)
  }
}

/// A storage of another maker, which knows what protects it.
private struct ProtectedStorage: ImmediateStorage, ForwardingStorage {
  let base = InMemoryStorage()
  let level: StorageProtection

  func diagnose(writing: Bool) -> StorageDiagnosis {
    var diagnosis = StorageDiagnosis(of: backendName)
    diagnosis.protection = level
    return diagnosis
  }
}
