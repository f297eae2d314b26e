// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeyringStorage

/// One step of a model test.
enum ModelOperation {
  case save(SecureItem, SaveMode)
  case find(ItemQuery)
  case remove(ItemQuery)
}

/// A source of operations with few texts and keys, so that they often concern the same items.
struct ModelOperations {
  private var random: SeededGenerator
  private let texts: [String]
  private let keys: [ItemKey]

  init(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    texts = (0..<8).map { _ in random.pick(EdgeCaseStrings.valid) }
    keys = [texts].flatMap { texts in (0..<16).map { _ in Self.key(of: texts, using: &random) } }
    self.random = random
  }

  /// Makes up the next operation.
  ///
  /// - Parameter items: The stored items, because most operations concern one of them.
  /// - Returns: The operation.
  mutating func next(_ items: [SecureItem]) -> ModelOperation {
    switch Int.random(in: 0..<10, using: &random) {
    case ..<5: .save(item(), random.pick([.add, .update, .addOrReplace, .addOrReplace]))
    case ..<8: .find(query(items))
    default:
      random.oneIn(4) ? .remove(removal(items)) : .remove(.key(key()))
    }
  }

  // MARK: Keys

  private static func key(of texts: [String], using random: inout SeededGenerator) -> ItemKey {
    func text() -> String { random.pick(texts) }
    func maybe() -> String? { random.oneIn(2) ? text() : nil }
    switch Int.random(in: 0..<10, using: &random) {
    case ..<3: return .password(service: text(), account: text(), accessGroup: maybe())
    case ..<6: return .credentials(service: text(), label: text())
    case ..<7: return .value(service: text(), account: text(), accessGroup: maybe())
    case ..<9:
      return .internetPassword(
        server: InternetServer(
          text(), port: random.oneIn(2) ? random.pick([0, 443, .max]) : nil, path: maybe(),
          securityDomain: maybe(), protocol: maybe().map { InternetServer.Scheme(rawValue: $0) },
          authenticationType: maybe().map { InternetServer.AuthenticationType(rawValue: $0) }),
        account: maybe())
    default:
      let names = ["service", "username", "label", "server", "more", "\u{E9}", "a b", "\n"]
        .filter { _ in random.oneIn(2) }
      return ItemKey(
        kind: ItemKind(
          rawValue: random.pick([
            "password", "Password", "custom", "a b", "\u{E9}", "e\u{301}", "\n",
          ])),
        attributes: Dictionary(uniqueKeysWithValues: names.map { ($0, random.pick(texts)) }))
    }
  }

  private mutating func key() -> ItemKey {
    let key = random.pick(keys)
    guard random.oneIn(20), let name = key.attributes.keys.min() else { return key }
    // A neighbor has a part more, a part less, another value, or a value that isn't allowed.
    var attributes = key.attributes
    switch Int.random(in: 0..<4, using: &random) {
    case 0: attributes[name] = nil
    case 1: attributes[name] = random.pick(EdgeCaseStrings.valid)
    case 2: attributes[name] = random.pick(EdgeCaseStrings.invalid)
    default:
      attributes[random.pick(EdgeCaseStrings.names + EdgeCaseStrings.refusedNames)] = random.pick(
        texts)
    }
    return ItemKey(kind: key.kind, attributes: attributes)
  }

  // MARK: Items

  private mutating func item() -> SecureItem {
    let key = key()
    var item = SecureItem(key: key)
    if !random.oneIn(5) { item.secret = EdgeCaseStrings.secret(using: &random) }
    if random.oneIn(500) {
      item.secret = Secret(
        bytes: [UInt8](repeating: 1, count: ItemLimits.secretBytes + random.pick([0, 1])))
    }
    if random.oneIn(4) { item.label = text() }
    if key.kind == .credentials, !random.oneIn(3) { item.attributes = ["username": text()] }
    if random.oneIn(3) {
      let names = random.oneIn(20) ? EdgeCaseStrings.refusedNames : EdgeCaseStrings.names
      item.attributes = (item.attributes ?? [:]).merging([random.pick(names): text()]) { $1 }
    }
    return item
  }

  /// Returns a text, in most cases one that also occurs elsewhere.
  private mutating func text() -> String {
    switch Int.random(in: 0..<20, using: &random) {
    case 0: random.pick(EdgeCaseStrings.invalid)
    case ..<4: random.pick(EdgeCaseStrings.valid)
    default: random.pick(texts)
    }
  }

  // MARK: Queries

  private mutating func query(_ items: [SecureItem]) -> ItemQuery {
    var query = removal(items)
    query.details = random.pick([[], .secret, .metadata, .all])
    query.allowsUnlocking = random.oneIn(2)
    if random.oneIn(3) { query.limit = random.pick([1, 1, 2, 3, .max, 0, -1, .min]) }
    if random.oneIn(20) { query = ItemQuery(details: query.details) }
    return query
  }

  private mutating func removal(_ items: [SecureItem]) -> ItemQuery {
    var query = ItemQuery()
    let item = items.isEmpty || random.oneIn(5) ? item() : random.pick(items)
    if random.oneIn(3) { query.key = item.key }
    if random.oneIn(4) { query.kind = random.oneIn(3) ? key().kind : item.key.kind }
    if random.oneIn(4) { query.label = random.oneIn(4) ? text() : item.label }
    if query.key == nil || random.oneIn(3) {
      let all = item.key.attributes.merging(item.attributes ?? [:]) { $1 }
      // A dictionary has another order in every process, and only the seed may decide.
      for (name, value) in all.sorted(by: { $0.key < $1.key }) where random.oneIn(2) {
        query.attributes[name] = value
      }
      if random.oneIn(10) { query.attributes[random.pick(EdgeCaseStrings.names)] = text() }
      if random.oneIn(20) { query.attributes[random.pick(EdgeCaseStrings.refusedNames)] = text() }
    }
    if random.oneIn(4) {
      query.ignoresCase = true
      query.label = random.oneIn(2) ? query.label?.uppercased() : query.label?.lowercased()
      let isUpper = random.oneIn(2)
      query.attributes = query.attributes.mapValues { isUpper ? $0.uppercased() : $0.lowercased() }
    }
    if random.oneIn(8) { query.created = dates() }
    if random.oneIn(8) { query.modified = dates() }
    return query
  }

  /// Returns a range with all of the test's time or none of it, because storages differ by seconds.
  private mutating func dates() -> ClosedRange<Date> {
    let now = Date()
    return random.pick([
      .distantPast...now - 3600, .distantPast...now + 3600, now - 3600 ... .distantFuture,
      now + 3600 ... .distantFuture,
    ])
  }
}
