// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import AppleKeychainModel
import Keyring
import KeyringApple
import KeyringStorage
import StandInKeychain
import TestPrograms
import Testing

struct UpdateTests {
  let device = KeychainModel()
  let key = ItemKey.credentials(service: "service", label: "label")
  let server = ItemKey.internetPassword(server: InternetServer("example.org"), account: "me")

  @Test(arguments: TestKeychain.allCases, [false, true])
  func `an update that another program overtook reads again`(
    keychain: TestKeychain, isInternet: Bool
  ) throws {
    let key = isInternet ? server : key
    let other = keychain.storage(on: device)
    try other.save(SecureItem(key: key, secret: Secret("old"), attributes: ["a": "1"]), mode: .add)
    let calls = RecordingKeychain(device, keychain.program()) {
      try! other.save(SecureItem(key: key, attributes: ["b": "2"]), mode: .update)
    }
    let storage = AppleKeychainStorage(keychain.keychain, calls: calls)
    try storage.save(
      SecureItem(key: key, secret: Secret("new"), attributes: ["c": "3"]), mode: .update)
    let item = try #require(try storage.item(for: key))
    #expect(item.attributes == ["a": "1", "b": "2", "c": "3"])
    #expect(item.secret == Secret("new"))
    #expect(calls.functions.filter { $0 == .update }.count == 2)
  }

  @Test(arguments: TestKeychain.allCases)
  func `an update of an item that goes is refused, and a save adds it`(
    keychain: TestKeychain
  ) throws {
    let other = keychain.storage(on: device)
    let credential = Credential(login: "new", password: "new")
    for mode in [SaveMode.update, .addOrReplace] {
      try other[key, as: .credential].write(Credential(login: "old", password: "old"))
      let calls = RecordingKeychain(device, keychain.program()) { try! other.remove(key) }
      let storage = AppleKeychainStorage(keychain.keychain, calls: calls)
      if mode == .update {
        expectError(.itemNotFound) {
          try storage[key, as: .credential].write(credential, mode: mode)
        }
      } else {
        try storage[key, as: .credential].write(credential, mode: mode)
        #expect(try other[key, as: .credential].read() == credential)
      }
    }
  }

  /// Stores an item for the server in the file, and another program's between the search and the change of a save.
  private func storage(beside other: SecureItem) throws -> AppleKeychainStorage {
    let storage = AppleKeychainStorage(.fileBased, on: device)
    let program = AppleKeychainStorage(.fileBased, on: device, for: Caller("other"))
    try storage.setPassword("old", for: server)
    let device = device
    device.faults.fileUpdateWindow = {
      device.faults.fileUpdateWindow = nil
      #expect(throws: Never.self) { try program.save(other, mode: .addOrReplace) }
    }
    return storage
  }

  @Test func `a save into the file wins over one that is quicker`() throws {
    let storage = try storage(beside: SecureItem(key: server, secret: Secret("other")))
    // The record that was found isn't there any more, but the item is.
    try storage.setPassword("new", for: server, mode: .update)
    #expect(try storage.password(for: server) == "new")
    #expect(device.rows.count == 1)
  }

  @Test func `a list has no secret under a key that another program has changed`() throws {
    let key = ItemKey.password(service: "service", account: "account")
    let stayed = ItemKey.password(service: "service", account: "stayed")
    let device = device
    let calls = RecordingKeychain(device, before: .copyMatching, of: .persistentReference) {
      for account in ["account", "stayed"] {
        // The same item, by its reference, with the other account.
        let status = StandInKeychain(device).update(
          [
            .itemClass: .constant(.genericPassword), .service: .text("service"),
            .account: .text(account), .usesDataProtection: .boolean(true),
          ], [.account: .text(account == "account" ? "renamed" : account)])
        #expect(status == 0)
      }
    }
    let storage = AppleKeychainStorage(.dataProtection(), calls: calls)
    for key in [stayed, key] { try storage.setPassword("s3cret", for: key) }
    let found = try storage.items(
      matching: ItemQuery(attributes: ["service": "service"], details: .all))
    #expect(found.map(\.key) == [stayed])
    #expect(found.map(\.secret) == [Secret("s3cret")])
  }

  /// The file has no transaction: what Apple calls an update is a search and then a change.
  @Test func `in the file, attributes can be lost to a quicker program`() throws {
    let storage = try storage(beside: SecureItem(key: server, attributes: ["theirs": "1"]))
    try storage.save(SecureItem(key: server, attributes: ["ours": "1"]), mode: .update)
    #expect(try storage.item(for: server)?.attributes == ["ours": "1"])
  }

  @Test(arguments: TestKeychain.allCases)
  func `a save never deletes, and each call names its keychain`(keychain: TestKeychain) throws {
    let calls = RecordingKeychain(device, keychain.program())
    let storage = AppleKeychainStorage(keychain.keychain, calls: calls)
    for number in 1...3 {
      try storage[key, as: .credential].write(Credential(login: "\(number)", password: "\(number)"))
      try storage.setPassword("\(number)", for: server)
    }
    let deletions = zip(calls.functions, calls.queries).filter { $0.0 == .delete }.map(\.1)
    #expect(deletions.allSatisfy { $0[.service] == .text("swift-keyring probe") })
    try storage.removeItems(matching: .service("service"))
    _ = try storage.items(matching: ItemQuery(details: .all))
    for (function, query) in zip(calls.functions, calls.queries) where function != .status {
      #expect(query[.usesDataProtection] == .boolean(keychain != .fileBased))
      #expect(
        query[.persistentReference] != nil || keychain == .fileBased
          || query[.service] == .text("swift-keyring probe")
          || query[.synchronizable] == .boolean(keychain == .synchronizable))
    }
    #expect(calls.queries.filter { $0[.accessible] != nil }.allSatisfy { $0[.data] != nil })
  }

  @Test func `a warm read is one call, and a change of a password, too`() throws {
    let calls = RecordingKeychain(device)
    let storage = AppleKeychainStorage(.dataProtection(), calls: calls)
    let key = ItemKey.password(service: "service", account: "account")
    try storage.setPassword("s3cret", for: key)
    let before = calls.functions.count
    _ = try storage.password(for: key)
    try storage.setPassword("other", for: key)
    try storage.remove(key)
    #expect(calls.functions.dropFirst(before) == [.copyMatching, .update, .delete])
  }

  @Test func `changes can't be observed`() async throws {
    struct Settings { @Password("x", service: "service") var password: String? }
    let storage: any SecureStorage = AppleKeychainStorage(on: device)
    #expect(!(storage is any ObservableStorage) && !(storage is any LockableStorage))
    await expectError(.notObservable) {
      try await withSecureStorage(storage) { () async throws in
        _ = try await Settings().$password.changes
      }
    }
  }
}
#endif
