// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Foundation
import Keyring
import KeyringStorage
import StorageModel
import Testing

@testable import KeyringSecretService

/// Random sequences of changes on unknown providers with random behaviors, which are killed now and then.
///
/// `KEYRING_TEST_SEED` repeats the sequences, and `KEYRING_TEST_KILLS` is four times their number.
@Suite(.withOwnKeyring, .tags(.kills, .unsanitized)) struct UnknownProviderSequenceTests {
  @Test func `nothing acknowledged is lost, and nothing removed returns`() throws {
    print("The seed of the sequences is \(SeededGenerator.seed).")
    for number in 0..<max(1, Kills.count / 4) {
      var sequence = try Sequence(number: number)
      try sequence.run()
    }
  }
}

/// One sequence on one provider, with what must be stored.
private struct Sequence {
  /// The expected content of an item.
  struct Value: Equatable {
    var secret: String
    var login: String?
    /// The label, if it isn't the default one.
    var label: String?
    var expires: Date?
  }

  static let ours: [ItemKey] = [
    .password(service: "ours", account: "a"), .password(service: "ours", account: "b"),
    .value(service: "ours", account: "a"), .credentials(service: "ours", label: "a"),
    .credentials(service: "ours", label: "b"),
  ]
  /// The keys of items that another program has stored.
  static let theirs: [ItemKey] = [
    .password(service: "theirs", account: "a"), .password(service: "theirs", account: "b"),
  ]
  static let keys = ours + theirs

  private var random: SeededGenerator
  private let bus: PrivateBus
  private let disk = FakeService.Disk()
  private let service: FakeService
  private let storage: SecretServiceStorage
  /// The keys whose items another program has stored last.
  private var foreign: Set<ItemKey> = []
  /// The values that may be stored under each key: several after a change whose outcome isn't known.
  private var model: [ItemKey: [Value?]] = [:]
  private var count = 0
  private var steps: [String]

  init(number: Int) throws {
    let seed = SeededGenerator.seed
    random = SeededGenerator(seed: seed &+ UInt64(number))
    let modes = Self.modes(using: &random)
    steps = ["seed \(seed), sequence \(number), \(modes.map(\.description).joined(separator: " "))"]
    bus = try PrivateBus()
    service = try FakeService(on: bus, modes: modes, disk: disk)
    try service.quiet()
    storage = bus.storage(serviceTimeout: .seconds(5))
  }

  private static func modes(using random: inout SeededGenerator) -> [FakeService.Mode] {
    if random.oneIn(4) { return FakeService.Mode.oo7 }
    var modes: [FakeService.Mode] = [
      .memory, .sweeping, .exact, .gap, .contentType, .types, .hiding, .prompting, .renumbering,
      .session, .restless,
    ].filter { _ in random.oneIn(2) }
    if random.oneIn(4) { modes.append(.noAliases) }
    if random.oneIn(4) { modes.append(.labelKept) }
    if random.oneIn(4) { modes.append(.sleepyCalls(random.pick([1, 2, 5, 9]))) }
    if random.oneIn(6) { modes.append(.late(milliseconds: 50)) }
    return modes
  }

  mutating func run() throws {
    for key in Self.theirs { try changeTheirs(key) }
    for _ in 0..<random.pick([10, 20, 30]) {
      try step()
      for key in Self.keys { try compare(key) }
    }
    try end(byKill: false)
    for key in Self.keys { try compare(key) }
    // Another program's item has the attributes that the program has given it. An item of this package may have
    // taken its place, if it couldn't get another label.
    for key in foreign {
      let items = try disk.items(key.attributes)
        .filter { $0.attributes["swift-keyring:successor"] == nil }
      try require(!items.isEmpty, "the other program's item is gone")
      for item in items {
        let names = Set(item.attributes.keys).subtracting(["xdg:content-type"])
        try require(names == ["service", "username"], "\(item.attributes)")
      }
    }
  }

  /// Whether the provider loses by a kill what nothing can keep.
  private var writesLate: Bool {
    service.modes.contains(.late(milliseconds: 50))
  }

  // MARK: Steps

  private mutating func step() throws {
    let key = random.pick(Self.keys)
    let old = model[key].flatMap { $0.first ?? nil }
    // One change in eight meets a provider that ends at a message, so that its outcome isn't known.
    var fault: String?
    if random.oneIn(8), !writesLate {
      fault = random.pick(["CreateItem", "Delete", "SetSecret", "Set", "SearchItems", "GetSecrets"])
    }
    switch Int.random(in: 0..<20, using: &random) {
    case ..<2: return try end(byKill: false)
    case ..<4: return try end(byKill: true)
    case ..<5:
      steps.append("lock")
      return try service.lock()
    case ..<8:
      foreign.remove(key)
      try change(key, fault, to: nil) { storage in try storage.remove(key) }
    case ..<10 where Self.theirs.contains(key): try changeTheirs(key)
    case ..<12 where old != nil:
      var value = try #require(old)
      value.label = text()
      try change(key, fault, to: value) { [value] storage in
        try storage.save(SecureItem(key: key, label: value.label), mode: .update)
      }
    case ..<14 where old != nil && !Self.theirs.contains(key):
      var value = try #require(old)
      let item = expiringItem(key, &value, hasSecret: random.oneIn(2))
      try change(key, fault, to: value) { storage in try storage.save(item, mode: .update) }
    default:
      try changeSecret(key, fault, old)
    }
  }

  private mutating func changeSecret(_ key: ItemKey, _ fault: String?, _ old: Value?) throws {
    var value = old ?? Value(secret: "")
    value.secret = text()
    let mode: SaveMode = random.oneIn(2) ? .addOrReplace : old == nil ? .add : .update
    if key.kind == .credentials {
      value.login =
        value.login == nil || random.oneIn(2) ? random.pick(["me", "you"]) : value.login
      let pair = Credential(login: value.login ?? "", password: value.secret)
      try change(key, fault, to: value) { try $0[key, as: .credential].write(pair, mode: mode) }
    } else {
      var item = SecureItem(key: key, secret: Secret(value.secret))
      if !Self.theirs.contains(key), random.oneIn(4) {
        value.label = text()
        item.label = value.label
      }
      try change(key, fault, to: value) { [item] in try $0.save(item, mode: mode) }
    }
  }

  private mutating func expiringItem(
    _ key: ItemKey, _ value: inout Value, hasSecret: Bool
  ) -> SecureItem {
    count += 1
    value.expires = Date(timeIntervalSince1970: 2_000_000_000 + Double(count))
    var item = SecureItem(key: key)
    item.expires = value.expires
    // A credential's secret is in a form of its own.
    if hasSecret, key.kind != .credentials {
      value.secret = text()
      item.secret = Secret(value.secret)
    }
    return item
  }

  /// Makes another program store its item, if nothing of ours could be in its place.
  private mutating func changeTheirs(_ key: ItemKey) throws {
    let value = Value(secret: text(), label: "Theirs")
    steps.append("theirs \(key.attributes) \(value.secret)")
    try service.unlock()
    // An item of this package may have followed one that was removed. This call also waits until the
    // provider is ready.
    do { try storage.remove(key) } catch { try fail("\(error)") }
    do {
      try openSession(at: bus.address).createItem(
        key.attributes, secret: value.secret, replacing: true,
        in: ObjectPath("/org/freedesktop/secrets/collection/only"))
    } catch { try fail("\(error)") }
    model[key] = [value]
    foreign.insert(key)
  }

  private mutating func change(
    _ key: ItemKey, _ fault: String?, to value: Value?,
    _ body: (SecretServiceStorage) throws -> Void
  ) throws {
    steps.append(
      "\(key.kind.rawValue) \(key.attributes) to \(value.map { "\($0)" } ?? "nothing")"
        + (fault.map { ", ends at \($0)" } ?? ""))
    guard let fault else {
      do { try body(storage) } catch { try fail("\(error)") }
      model[key] = [value]
      return
    }
    try service.fault(fault, .leave)
    var isAcknowledged = true
    do { try body(storage) } catch let error as SecureStorageError {
      try require([.connectionLost, .noProvider].contains(error.code), "\(error)")
      isAcknowledged = false
    }
    model[key] = isAcknowledged ? [value] : (model[key] ?? [nil]) + [value]
    try service.kill()
    try service.quiet()
  }

  private mutating func end(byKill: Bool) throws {
    let isKilled = byKill && !writesLate
    steps.append(isKilled ? "kill" : "restart")
    if isKilled { try service.kill() } else { try service.restart() }
    try service.quiet()
  }

  private mutating func text() -> String {
    count += 1
    return "text \(count)"
  }

  // MARK: Comparison

  /// Compares what is stored under a key, and remembers what it is.
  private mutating func compare(_ key: ItemKey) throws {
    let allowed = model[key] ?? [nil]
    var found: Value?
    do {
      let items = try storage.items(matching: .key(key, details: .all))
      try require(items.count < 2, "\(items.count) items under \(key.attributes)")
      let read = try storage.item(for: key, details: .secret)
      try require(read?.secret == items.first?.secret, "two reads of \(key.attributes) differ")
      if let item = items.first {
        found = try value(of: item, key)
      }
    } catch let error as SecureStorageError {
      try fail("\(key.attributes): \(error)")
    }
    guard let matching = allowed.first(where: { agrees(found, $0) }) else {
      return try fail(
        """
        \(key.kind.rawValue) \(key.attributes) is \(found.map { "\($0)" } ?? "absent"), and not \
        \(allowed.map { $0.map { "\($0)" } ?? "absent" })
        """)
    }
    model[key] = [matching]
  }

  private func value(of item: SecureItem, _ key: ItemKey) throws -> Value {
    let text = item.secret?.text ?? ""
    let login = key.kind == .credentials ? try storage[key, as: .credential].read() : nil
    return Value(
      secret: login?.password ?? text, login: login?.login, label: item.label,
      expires: item.expires)
  }

  private func agrees(_ found: Value?, _ expected: Value?) -> Bool {
    guard let found, let expected else { return found == nil && expected == nil }
    return found.secret == expected.secret && found.login == expected.login
      && (expected.label == nil || found.label == expected.label)
      && found.expires == expected.expires
  }

  private func require(_ condition: Bool, _ text: @autoclosure () -> String) throws {
    if !condition { try fail(text()) }
  }

  private func fail(_ text: String) throws {
    throw Failure(description: (steps + [text]).joined(separator: "\n"))
  }

  private struct Failure: Error, CustomStringConvertible {
    let description: String
  }
}
#endif
