// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Foundation
import Keyring
import KeyringStorage
import StorageModel
import Testing

/// Random keys of ours among random items of other programs, of which only the keys' own may change.
///
/// `KEYRING_TEST_SEED` repeats a run, and `KEYRING_TEST_STEPS` makes it longer.
@Suite(.inPrivateSession) struct ForeignItemModelTests {
  @Test(.tags(.slow)) func `no item of another program changes unless it's the key's`() throws {
    var model = ForeignItemModel(
      storage: SecretServiceStorage(), theirs: try ForeignProgram.inSession.get(), isKnown: true)
    try model.run(steps: ModelRun.steps / 2)
  }

  /// A creation replaces the first item that has at least its attributes, those with the same, or all that have them.
  @Test(
    .tags(.slow),
    .withOwnKeyring,
    arguments: [
      [], FakeService.Mode.oo7.filter { $0 != .sleepy(milliseconds: 60) },
      FakeService.Mode.oo7.filter { $0 != .sleepy(milliseconds: 60) && $0 != .exact }
        + [.containing],
    ])
  func `the same is true on an unknown keyring`(modes: [FakeService.Mode]) throws {
    let bus = try PrivateBus()
    let service = try FakeService(on: bus, modes: modes, disk: FakeService.Disk())
    try service.quiet()
    var model = ForeignItemModel(
      storage: bus.storage(),
      theirs: try ForeignProgram(on: bus, collection: "only", provider: "unknown"),
      isKnown: false)
    try model.run(steps: ModelRun.steps / 6)
  }
}

/// The state that the keyring must have.
private struct ForeignItemModel {
  typealias Item = ForeignProgram.Item

  /// A step after which the keyring doesn't have this state.
  struct Difference: Error, CustomStringConvertible { let description: String }

  private let storage: SecretServiceStorage
  private let theirs: ForeignProgram
  private let isKnown: Bool
  private let name = PrivateSession.newService()
  private let seed = SeededGenerator.seed
  private var random: SeededGenerator
  /// The items of other programs, by path.
  private var foreign: [String: Item] = [:]
  /// The secrets of our items.
  private var ours: [ItemKey: String] = [:]
  private var log: [String] = []

  init(storage: SecretServiceStorage, theirs: ForeignProgram, isKnown: Bool) {
    (self.storage, self.theirs, self.isKnown) = (storage, theirs, isKnown)
    random = SeededGenerator(seed: seed)
  }

  // MARK: The rule

  private static let generic = "org.freedesktop.Secret.Generic"
  private static let network = "org.gnome.keyring.NetworkPassword"

  /// Returns `true` if an item of another program is a key's.
  ///
  /// It then has exactly the key's attributes, apart from known extras, and no schema, the generic one or the key's. That
  /// of a server may be one of servers. This is rule 15 of the design, in other words than the package's.
  private func isOf(_ key: ItemKey, _ item: Item) -> Bool {
    var rest = item.attributes
    let schema = rest.removeValue(forKey: "xdg:schema") ?? Self.generic
    var schemas = [Self.generic, key.schema ?? Self.generic]
    if key.kind == .internetPassword { schemas += [Self.network, "org.git.Password"] }
    guard schemas.contains(schema) else { return false }
    for (name, value) in key.attributes where rest.removeValue(forKey: name) != value {
      return false
    }
    rest["comment"] = nil
    rest["expires"] = nil
    rest["xdg:content-type"] = nil
    if key.kind == .credentials { rest["username"] = nil }
    if key.attributes["username"] != nil {
      let programs = ["Python keyring library", "python-keyring", "rust-keyring"]
      if let program = rest["application"], programs.contains(program) { rest["application"] = nil }
      if rest["target"] == "default" { rest["target"] = nil }
    }
    return rest.isEmpty
  }

  private func shared(_ key: ItemKey) -> [String] {
    foreign.filter { isOf(key, $0.value) }.keys.sorted()
  }

  /// The items that a key means while there is none of ours: the one with its schema, or all.
  private func meant(_ key: ItemKey) -> [String] {
    let all = shared(key)
    let schema = key.schema ?? (key.kind == .internetPassword ? Self.network : Self.generic)
    let closest = all.filter { foreign[$0]?.attributes["xdg:schema"] == schema }
    return closest.count == 1 && schema != Self.generic ? closest : all
  }

  // MARK: Random things

  private mutating func value() -> String { random.pick([name, name + ".b"]) }

  /// Returns attributes over four names, some with extras, of five schemas.
  private mutating func attributes() -> [String: String] {
    // Half of them have the parts of a key, so that they often are one's.
    var found = random.oneIn(2) ? key().attributes : [:]
    if found.isEmpty {
      for name in ["service", "username", "label", "server"] where random.oneIn(2) {
        found[name] = value()
      }
    }
    if found.isEmpty { found["service"] = value() }
    if random.oneIn(3) {
      found["application"] = random.pick(
        ["Python keyring library", "python-keyring", "rust-keyring", "another program"])
    }
    if random.oneIn(6) { found["target"] = random.pick(["default", "work"]) }
    if random.oneIn(8) { found["comment"] = "theirs" }
    let schema = random.pick([
      nil, nil, nil, Self.generic, Self.network, "org.git.Password", "org.example.Mail",
    ])
    found["xdg:schema"] = schema
    return found
  }

  private mutating func key() -> ItemKey {
    let schema = random.oneIn(4) ? "org.example.Mail" : nil
    let key: ItemKey =
      switch Int.random(in: 0..<6, using: &random) {
      case 0, 1: .password(service: value(), account: value())
      case 2: .value(service: value(), account: value())
      case 3: .credentials(service: value(), label: value())
      case 4: .internetPassword(server: InternetServer(value()))
      default:
        ItemKey(
          kind: ItemKind(rawValue: "token"),
          attributes: random.pick([
            ["service": name], ["username": name], ["label": name, "server": name],
            ["service": name, "username": name, "label": name, "server": name],
          ]))
      }
    return key.with(schema: schema)
  }

  private func isOurs(_ item: Item) -> Bool { item.attributes["swift-keyring:key"] != nil }

  /// All items of this run.
  private func everything() throws -> [String: Item] {
    try theirs.itemsByPath().filter { $0.value.attributes.values.contains { $0.hasPrefix(name) } }
      .mapValues { item in
        var item = item
        item.attributes["xdg:content-type"] = nil
        return item
      }
  }

  // MARK: Steps

  mutating func run(steps: Int) throws {
    print("The seed of the model test of foreign items is \(seed).")
    for step in 1...steps {
      log.append("")
      do {
        if foreign.count < 3 || foreign.count < 14 && random.oneIn(3) {
          try change()
        } else if random.oneIn(4) {
          try changeOurs(listed: true)
        } else {
          try changeOurs(listed: false)
        }
        try compare()
      } catch {
        throw Difference(
          description: """
            seed \(seed), step \(step): \(error)
            \(log.suffix(8).joined(separator: "\n"))
            """)
      }
    }
    for path in try everything().keys { try? theirs.delete(path) }
  }

  private mutating func note(_ text: String) { log[log.count - 1] += " " + text }

  /// Another program adds, changes or removes an item of its own.
  private mutating func change() throws {
    if foreign.count > 6, let path = foreign.keys.sorted().randomElement(using: &random) {
      if random.oneIn(2) {
        note("they remove \(path)")
        foreign[path] = nil
        return try theirs.delete(path)
      }
      let secret = "theirs \(random.next())"
      note("they set the secret of \(path)")
      try theirs.setSecret(secret, of: path)
      foreign[path]?.secret = Data(secret.utf8)
      return
    }
    let attributes = attributes()
    let secret = "theirs \(random.next())"
    let path = try theirs.create(secret, label: "theirs", attributes)
    note("they create \(path) \(attributes.sorted { $0.key < $1.key })")
    var item = Item(label: "theirs", secret: secret, attributes: attributes)
    item.attributes["xdg:schema"] = attributes["xdg:schema"] ?? Self.generic
    foreign[path] = item
  }

  /// We save, read or remove under a key, or under that of a listed item.
  private mutating func changeOurs(listed: Bool) throws {
    var key = key()
    if listed {
      let query = ItemQuery.service(value())
      let found = try storage.items(matching: query)
      // A list has each item of theirs, and each key of ours.
      let there = foreign.values.filter { $0.attributes["service"] == query.attributes["service"] }
        .filter { item in !ours.keys.contains { isOf($0, item) } }
      note("list \(found.count)")
      for item in there where !found.contains(where: { isOf($0.key, item) }) {
        throw Difference(description: "\(item.attributes) isn't listed")
      }
      guard
        let some = found.sorted(by: { "\($0.key)" < "\($1.key)" })
          .randomElement(using: &random)
      else { return }
      key = some.key
    }
    let own = ours[key]
    let matches = own == nil ? meant(key) : []
    let expected = own ?? (matches.count == 1 ? foreign[matches[0]]?.text : nil)
    note("\(key), ours \(own ?? "-"), theirs \(matches)")
    switch Int.random(in: 0..<9, using: &random) {
    case 0, 1, 2:
      note("read")
      try expect(matches.count > 1 ? .ambiguous : nil) {
        let found = try storage.item(for: key)?.secret?.text
        guard found == expected else { throw Difference(description: "\(found ?? "-")") }
      }
    case 3, 4:
      note("remove")
      let before = isKnown ? [:] : try everything()
      do {
        try expect(matches.count > 1 ? .ambiguous : nil) {
          let count =
            try random.oneIn(2)
            ? storage.removeItems(matching: .key(key)) : storage.remove(key) ? 1 : 0
          guard count == (expected == nil ? 0 : 1) else {
            throw Difference(description: "\(count)")
          }
        }
      } catch let error as SecureStorageError where error.code == .other && !isKnown {
        // The keyring might have removed a third one with it.
        note("refused")
        guard try everything() == before else { throw error }
        return
      }
      if matches.count <= 1 {
        for path in matches { foreign[path] = nil }
        // What replaces ours by adding an item goes with it.
        if own != nil { try forgetItemsBeside(ours: key) }
        ours[key] = nil
      }
    case 5:
      note("add")
      let secret = "ours \(random.next())"
      let isThere = own != nil || !matches.isEmpty
      try expect(isThere ? .itemAlreadyExists : nil) {
        try storage.save(SecureItem(key: key, secret: Secret(secret)), mode: .add)
      }
      if !isThere { ours[key] = secret }
    default:
      var item = SecureItem(key: key, secret: Secret("ours \(random.next())"))
      if random.oneIn(3) { item.label = "label \(random.next() % 4)" }
      if random.oneIn(3) { item.attributes = ["color": random.pick(["red", "blue"])] }
      if random.oneIn(4), own != nil || !matches.isEmpty { item.secret = nil }
      note("save \(item)")
      try expect(matches.count > 1 ? .ambiguous : nil) {
        try storage.save(item, mode: .addOrReplace)
      }
      if matches.count > 1 { return }
      let secret = item.secret?.text ?? expected
      if own == nil, let path = matches.first, item.attributes == nil {
        try follow(path, key, secret, item.label)
      } else {
        ours[key] = secret
        try forgetItemsBeside(ours: key)
      }
    }
  }

  private func expect(_ code: SecureStorageError.Code?, _ body: () throws -> Void) throws {
    do {
      try body()
    } catch let error as SecureStorageError {
      if error.code != code { throw error }
      return
    }
    if let code { throw Difference(description: "no error \(code)") }
  }

  /// Takes over what has become of an item of theirs after a save without attributes.
  private mutating func follow(
    _ path: String, _ key: ItemKey, _ secret: String?, _ label: String?
  ) throws {
    guard let old = foreign.removeValue(forKey: path), let secret else { return }
    var item = old
    item.secret = Data(secret.utf8)
    item.label = label ?? item.label
    let now = try everything()
    if now[path] == item {
      foreign[path] = item
    } else if let moved = now.first(where: { foreign[$0.key] == nil && $0.value == item }) {
      // A provider that loses what is changed in place has made the item again.
      foreign[moved.key] = item
    } else if now.contains(where: { isOurs($0.value) && $0.value.text == secret }) {
      // Making it again would have replaced a third one.
      ours[key] = secret
      foreign[path] = old
      try forgetItemsBeside(ours: key)
    } else {
      throw Difference(description: "\(old.attributes) isn't what was saved")
    }
  }

  /// The next save under a key may remove their items that were the key's.
  private mutating func forgetItemsBeside(ours key: ItemKey) throws {
    let now = try everything()
    for path in shared(key) where now[path].map(isOurs) != false { foreign[path] = nil }
  }

  /// Expects that every item of theirs is as it was, and that nothing else is there but our items.
  private func compare() throws {
    let now = try everything()
    for (path, item) in foreign where now[path] != item {
      throw Difference(
        description: "\(path) was \(item) and is \(now[path].map { "\($0)" } ?? "gone")")
    }
    for (path, item) in now where foreign[path] == nil && !isOurs(item) {
      throw Difference(description: "\(path) \(item) is new")
    }
    let found = try storage.items(for: Array(ours.keys), details: .secret)
      .mapValues { $0.secret?.text }
    guard found == ours else { throw Difference(description: "ours are \(found), not \(ours)") }
  }
}
#endif
