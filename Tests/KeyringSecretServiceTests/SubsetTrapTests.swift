// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Keyring
import KeyringStorage
import Testing

/// Every pair of keys with different parts.
///
/// The daemons replace items by subset. An item with {service} takes the place of one with
/// {service, username}. The test repeats one thing many times, which would take too long with a
/// sanitizer.
@Suite(.inPrivateSession, .tags(.unsanitized)) struct SubsetTrapTests {
  static let shapes: [(kind: ItemKind, parts: [String])] =
    [.password, .credentials, ItemKind(rawValue: "of somebody's own")].flatMap { kind in
      [
        ["service"], ["service", "username"], ["service", "label"],
        ["service", "username", "label"], ["service", "username", "label", "more"],
      ].map { (kind, $0) }
    }

  @Test(arguments: shapes.indices.dropLast())
  func `saving one key leaves every other key alone`(index: Int) throws {
    let storage = SecretServiceStorage()
    let service = PrivateSession.newService()
    let keys = Self.shapes.map { shape in
      ItemKey(
        kind: shape.kind,
        attributes: Dictionary(
          uniqueKeysWithValues: shape.parts.map { ($0, $0 == "service" ? service : "same") }))
    }
    func save(_ key: ItemKey, _ text: String) throws {
      try storage.save(SecureItem(key: key, secret: Secret(text)), mode: .addOrReplace)
    }
    func secret(_ key: ItemKey) throws -> Secret? {
      try storage.item(for: key, details: .secret)?.secret
    }
    for other in keys.indices where other > index {
      // In both orders, the new item must neither take the other's place nor be taken for it.
      for (first, second) in [(keys[index], keys[other]), (keys[other], keys[index])] {
        try save(first, "first")
        try save(second, "second")
        #expect(try secret(first) == Secret("first"))
        #expect(try secret(second) == Secret("second"))
        try storage.remove(second)
        #expect(try secret(first) == Secret("first"))
        try storage.remove(first)
      }
    }
    #expect(try storage.items(matching: .service(service)).isEmpty)
  }
}
#endif
