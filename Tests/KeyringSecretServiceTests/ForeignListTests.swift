// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Foundation
import Keyring
import KeyringStorage
import Testing

/// Lists of items of any shape, and removals of what is listed.
@Suite(.inPrivateSession) struct ForeignListTests {
  let name = PrivateSession.newService()
  let storage = SecretServiceStorage()
  let theirs: ForeignProgram

  init() throws { theirs = try ForeignProgram.inSession.get() }

  /// The items of a service: what they have besides it, and whether a property can have their keys.
  private static let items: [(others: [String: String], isForeign: Bool)] = [
    (["username": "me"], false),
    (["username": "you", "application": "Python keyring library"], false),
    (["username": "he", "application": "rust-keyring", "target": "default"], false),
    (["username": "she", "access-group": "group"], false),
    (["label": "me", "username": "ada"], false),
    (["label": "you"], false),
    ([:], true),
    (["account": "K1"], true),
    (["account": "K2", "xdg:schema": "org.example.envchain"], true),
    (["account": "K2", "xdg:schema": "org.example.keytar"], true),
    (["username": "me", "folder": "inbox"], true),
    (["username": "it", "xdg:schema": "org.example.Mail"], true),
    (["username": "he", "application": "rust-keyring", "target": "work"], true),
    (["label": "me", "username": "ada", "folder": "inbox"], true),
    (["server": "example.org", "user": "me"], true),
    (["a b": "\u{E9}", "key": ""], true),
  ]

  private func storeAll() throws {
    for (number, item) in Self.items.enumerated() {
      try theirs.create(
        "\(number)", label: "\(name) \(number)", item.others.merging(["service": name]) { $1 })
    }
  }

  private func numbers() throws -> Set<Int> {
    Set(try theirs.items(["service": name]).compactMap { Int($0.text) })
  }

  @Test func `each item is listed under a key that finds exactly this item`() throws {
    try storeAll()
    let listed = try storage.items(matching: .service(name, details: .all))
    #expect(listed.count == Self.items.count && Set(listed.map(\.key)).count == listed.count)
    for found in listed {
      let number = try #require(found.secret?.text.flatMap { Int($0) })
      let item = Self.items[number]
      #expect(found.isForeign == item.isForeign)
      #expect(found.label == "\(name) \(number)")
      if item.isForeign {
        #expect(
          found.key.attributes
            == item.others.merging(["service": name]) { $1 }.filter { $0.key != "xdg:schema" })
        #expect(found.key.schema == item.others["xdg:schema"])
        #expect(found.attributes == [:])
      }
      #expect(try storage.item(for: found.key) == found)
      #expect(try storage.items(matching: .key(found.key, details: .all)) == [found])
    }
    let ours = listed.filter { !$0.isForeign }.map(\.key)
    var query = ItemQuery.service(name)
    query.leavesForeignItems = true
    #expect(Set(try storage.items(matching: query).map(\.key)) == Set(ours))
    let service = storage.service(name)
    #expect(Set(["he", "me", "you"]).isSubset(of: try service.names()))
    #expect(Set(["me", "you"]).isSubset(of: try service.names(of: .credentials)))

    // A listed item is changed, and removed, by its key alone.
    for found in listed {
      try storage.save(SecureItem(key: found.key, secret: Secret("changed")), mode: .update)
      #expect(try storage.item(for: found.key)?.secret == Secret("changed"))
    }
    #expect(try theirs.items(["service": name]).map(\.text) == listed.map { _ in "changed" })
    for found in listed { #expect(try storage.remove(found.key)) }
    #expect(try theirs.items(["service": name]).isEmpty)
  }

  static let queries: [@Sendable (String) -> ItemQuery] = [
    { .service($0) }, { .service($0, kind: .password) }, { .service($0, kind: .credentials) },
    { ItemQuery(attributes: ["service": $0, "username": "me"]) },
    { ItemQuery(attributes: ["service": $0, "account": "K2"]) },
    { ItemQuery(attributes: ["service": $0, "label": "me", "username": "ada"]) },
    { ItemQuery(attributes: ["service": $0, "folder": "inbox"]) },
    { ItemQuery(label: "\($0) 8") }, { ItemQuery(label: "\($0) 6") },
    { ItemQuery(attributes: ["service": $0.uppercased()], ignoresCase: true) },
    { ItemQuery(key: .password(service: $0, account: "me")) },
    { ItemQuery(key: ItemKey(kind: .password, attributes: ["service": $0])) },
    { ItemQuery(attributes: ["service": $0, "account": "K3"]) },
  ]

  @Test(.tags(.slow), arguments: queries.indices, [false, true])
  func `a removal removes exactly what is listed`(index: Int, leavesForeign: Bool) throws {
    try storeAll()
    var query = Self.queries[index](name)
    query.details = .all
    query.leavesForeignItems = leavesForeign
    let listed = Set(
      try storage.items(matching: query).compactMap(\.secret?.text).compactMap { Int($0) })
    if leavesForeign { #expect(listed.allSatisfy { !Self.items[$0].isForeign }) }
    #expect(try storage.removeItems(matching: query) == listed.count)
    #expect(try numbers() == Set(Self.items.indices).subtracting(listed))
    #expect(try storage.items(matching: query).isEmpty)
    try theirs.deleteAll(["service": name])
  }

  @Test func `the removal of a service leaves and names the items of other programs`() throws {
    try storeAll()
    try expectForeignItemsLeft(by: storage.service(name).removeAll())
    #expect(try storage.service(name).removeAll() == storage.service(name).removeAll())
    #expect(try storage.removeItems(matching: .service(name)) == Self.foreign.count)
    #expect(try storage.service(name).removeAll().left.isEmpty)
  }

  @Test func `an asynchronous removal of a service does the same`() async throws {
    try storeAll()
    try await expectForeignItemsLeft(by: storage.service(name).removeAll())
    try theirs.deleteAll(["service": name])
  }

  private static let foreign = items.indices.filter { items[$0].isForeign }

  private func expectForeignItemsLeft(by outcome: BulkOutcome) throws {
    #expect(outcome.count == Self.items.count - Self.foreign.count)
    #expect(try numbers() == Set(Self.foreign))
    let left = try storage.items(matching: .service(name))
    #expect(left.count == Self.foreign.count && left.allSatisfy(\.isForeign))
    #expect(outcome.left.count == left.count && Set(outcome.left) == Set(left.map(\.key)))
  }

  // MARK: - KWallet

  /// KWallet 5.103 shows an entry of its own interface as an item without attributes.
  @Test(.only(on: .kwallet, "only KWallet has entries of another interface"))
  func `an entry without attributes is listed`() throws {
    let program = Provider.kwalletProgram
    try #require(program != "ksecretd", "its interface belongs to another program")
    func call(_ method: String, _ arguments: String...) throws -> String {
      let (status, output) = try Program(
        "gdbus",
        ["call", "--session", "--dest", "org.kde.\(program)"]
          + ["--object-path", "/modules/\(program)", "--method", "org.kde.KWallet.\(method)"]
          + arguments
      ).finish()
      try #require(status == 0)
      return String(decoding: output, as: UTF8.self)
    }
    let handle = String(try call("open", "kdewallet", "0", "test").filter(\.isNumber))
    _ = try call("createFolder", handle, name, "test")
    _ = try call("writePassword", handle, name, "me", "theirs", "test")
    let query = ItemQuery(label: "\(name)/me", details: .all)
    #expect(try waitUntil { try !storage.items(matching: query).isEmpty })
    let items = try storage.items(matching: query)
    #expect(items.map(\.secret?.text) == ["theirs"])
    #expect(items.map(\.isForeign) == [true])
    #expect(items.map(\.key.attributes) == [[:]])
    let all = try storage.items(matching: ItemQuery(details: .metadata))
    #expect(all.contains { $0.label == "\(name)/me" })
    _ = try call("removeEntry", handle, name, "me", "test")
    _ = try call("removeFolder", handle, name, "test")
  }
}
#endif
