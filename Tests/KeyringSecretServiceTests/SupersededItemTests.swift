// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Foundation
import Keyring
import KeyringStorage
import Testing

@testable import KeyringSecretService

/// Items that another process replaced by newer ones, but didn't delete before it was killed.
@Suite(.inPrivateSession) struct SupersededItemTests {
  private let storage = SecretServiceStorage()
  private let key = ItemKey.password(service: PrivateSession.newService(), account: "account")

  /// Creates the item that another process creates before it deletes the item that it replaces.
  private func replaceWithNewAttributes(revision: Int, _ secret: String) throws {
    try openSession().createItem(
      key.newAttributes.merging([AttributeName.revision: "\(revision)"]) { $1 }, label: "newer",
      secret: secret, replacing: true)
  }

  /// Another process has begun to add an item, and hasn't found yet that there already is one.
  @Test func `a rewrite with another label goes to the valid item`() throws {
    let value = ItemKey.value(service: key.service ?? "", account: "account")
    func item(_ text: String) -> SecureItem {
      SecureItem(key: value, secret: Secret(text), label: text)
    }
    try storage.save(item("old"), mode: .addOrReplace)
    // Some providers replace the item that was changed last. Their times are in whole seconds.
    Thread.sleep(until: Date(timeIntervalSince1970: Date().timeIntervalSince1970.rounded(.up)))
    try openSession().createItem(value.newAttributes, label: "newer", secret: "theirs")
    try storage.save(item("ours"), mode: .addOrReplace)
    let found = try SecretServiceStorage().items(matching: .key(value, details: .all))
    #expect(found.map(\.secret?.text) == ["ours"])
    #expect(found.map(\.label) == ["ours"])
    #expect(try countStoredItems(value.ownAttributes) == 1)
    #expect(try storage.remove(value))
  }

  @Test func `a rewrite goes to the newer item`() throws {
    try storage.setPassword("old", for: key)
    try replaceWithNewAttributes(revision: 1, "theirs")
    // This process knows the place of the old item.
    try storage.setPassword("ours", for: key)
    #expect(try storage.password(for: key) == "ours")
    #expect(try SecretServiceStorage().items(matching: .key(key, details: .all)).count == 1)
    #expect(try storage.remove(key))
    #expect(try storage.password(for: key) == nil)
  }

  @Test(.only(on: .kwallet, "the others remove a replaced item at once"))
  func `a query by attributes goes to the newer item`() throws {
    let service = key.service ?? ""
    let account = ItemKey.credentials(service: service, label: "account")
    func query(_ login: String) -> ItemQuery {
      ItemQuery(attributes: ["service": service, "username": login])
    }
    try storage[account, as: .credential].write(Credential(login: "ada", password: "old"))
    let attributes = account.newAttributes
      .merging(["username": "grace", AttributeName.revision: "1"]) { $1 }
    try openSession().createItem(attributes, label: "newer", secret: "new", replacing: true)
    #expect(try storage.items(matching: query("ada")).isEmpty)
    #expect(try storage.removeItems(matching: query("ada")) == 0)
    #expect(try storage.items(matching: query("grace")).map(\.key) == [account])
    #expect(try storage.removeItems(matching: query("grace")) == 1)
    #expect(try storage[account, as: .credential].read() == nil)
  }

  /// Any program may write any revision.
  @Test func `the largest revision counts as none`() throws {
    try replaceWithNewAttributes(revision: .max, "theirs")
    for environment in ["first", "second"] {
      try storage.save(
        SecureItem(
          key: key, secret: Secret(environment), attributes: ["environment": environment]),
        mode: .addOrReplace)
      #expect(try storage.password(for: key) == environment)
    }
    let most = Provider.current.keepsReplacedItems ? 2 : 1
    #expect(try countStoredItems(key.ownAttributes) <= most)
    #expect(try storage.remove(key))
  }
}
#endif
