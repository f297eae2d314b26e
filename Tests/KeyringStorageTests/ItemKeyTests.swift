// SPDX-License-Identifier: Apache-2.0

import Keyring
import KeyringStorage
import Testing

@Suite struct ItemKeyTests {
  @Test func `the kind and the parts make the key`() {
    let key = ItemKey.password(service: "service", account: "name")
    #expect(key == .password(service: "service", account: "name"))
    #expect(key.hashValue == ItemKey.password(service: "service", account: "name").hashValue)
    #expect(key != .password(service: "service", account: "Name"))
    #expect(key != .credentials(service: "service", label: "name"))
    #expect(key != ItemKey(kind: .password, attributes: ["service": "service"]))
  }

  @Test func `text that only looks the same makes another key`() {
    let composed = ItemKey.password(service: "service", account: "\u{E9}")
    let decomposed = ItemKey.password(service: "service", account: "e\u{301}")
    #expect(composed != decomposed)
    #expect(Set([composed, decomposed]).count == 2)
  }

  @Test func `the label of a new item has no slash`() throws {
    let storage = InMemoryStorage()
    let key = ItemKey.password(service: "org/example", account: "a/b")
    try storage.save(SecureItem(key: key, secret: Secret("s3cret")), mode: .add)
    #expect(try storage.item(for: key)?.label == "org-example: a-b")
  }
}
