// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Keyring
import KeyringStorage
import Testing

/// The tools with which a storage of another maker answers like every other storage.
@Suite struct OwnStorageTests {
  private let item = SecureItem(
    key: .password(service: "service/path", account: "account"), secret: Secret("s3cret"),
    label: "label", attributes: ["environment": "test"], created: Date(timeIntervalSince1970: 10.5),
    modified: Date(timeIntervalSince1970: 20.5), isLocked: false)

  @Test func `an item that meets every condition matches`() {
    let time = Date(timeIntervalSince1970: 10)...Date(timeIntervalSince1970: 10)
    #expect(ItemQuery().matches(item))
    #expect(ItemQuery(key: item.key, kind: .password, created: time).matches(item))
    #expect(ItemQuery(attributes: ["service": "service/path"], label: "label").matches(item))
    #expect(ItemQuery(attributes: ["environment": "TEST"], ignoresCase: true).matches(item))
  }

  @Test func `an item that fails one condition does not match`() {
    let time = Date(timeIntervalSince1970: 11)...Date(timeIntervalSince1970: 12)
    #expect(!ItemQuery(key: .value(service: "service/path", account: "account")).matches(item))
    #expect(!ItemQuery(kind: .value, label: "label").matches(item))
    #expect(!ItemQuery(attributes: ["environment": "TEST"]).matches(item))
    #expect(!ItemQuery(modified: time).matches(item))
    // Swift takes these labels for the same text, but a keyring doesn't.
    #expect(!ItemQuery(label: "e\u{301}").matches(SecureItem(key: item.key, label: "\u{E9}")))
  }

  @Test func `a progress handler does not affect the equality of queries`() {
    var query = ItemQuery.service("service")
    query.onProgress = { _, _ in }
    #expect(query == .service("service"))
  }

  @Test func `an item is limited to the requested details`() {
    #expect(item.selecting(.all) == item)
    #expect(item.selecting([]) == SecureItem(key: item.key))
    #expect(item.selecting(.secret) == SecureItem(key: item.key, secret: Secret("s3cret")))
    var metadata = item
    metadata.secret = nil
    #expect(item.selecting(.metadata) == metadata)
  }

  @Test func `the default label describes the item without a slash`() {
    #expect(item.key.defaultLabel == "service-path: account")
  }
}
