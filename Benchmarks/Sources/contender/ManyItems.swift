// SPDX-License-Identifier: Apache-2.0

import Contending
import Keyring
import KeyringStorage

/// Reads all items of the service and their metadata with one query.
struct Query: Work {
  let count: Int
  private let storage = Sample.storage()
  private var items: [SecureItem] = []

  init(count: Int) { self.count = count }

  mutating func perform() throws {
    items = try storage.items(matching: .service(Sample.service, details: .all))
  }

  func check() throws {
    try checkAll(Dictionary(items.map { ($0.key, $0) }) { $1 }, count: count)
  }
}

/// Reads the keys of all items of the service, or the newest items, whose secrets name their accounts.
struct QueryOfLess: Work {
  enum Wish { case keys, newest }

  let count: Int
  let wish: Wish
  private let storage = Sample.storage()
  private var items: [SecureItem] = []

  init(count: Int, wish: Wish) { (self.count, self.wish) = (count, wish) }

  mutating func perform() throws {
    var query = ItemQuery.service(Sample.service)
    if wish == .newest { (query.details, query.limit) = (.all, count) }
    items = try storage.items(matching: query)
  }

  func check() throws {
    let accounts = items.compactMap { $0.key.attributes["username"] }
    guard items.count == count, Set(accounts).count == count else {
      throw Failure("\(items.count) items instead of \(count)")
    }
    if wish == .keys { return }
    guard items.map({ $0.secret?.text }) == accounts.map({ "the secret of \($0)" }) else {
      throw Failure("the passwords that were read aren't the stored ones")
    }
  }
}

/// Reads the items of many keys and their metadata at once.
struct ReadsByKeys: Work {
  let count: Int
  private let storage = Sample.storage()
  private let keys: [ItemKey]
  private var items: [ItemKey: SecureItem] = [:]

  init(count: Int) {
    self.count = count
    keys = (0..<count).map(Sample.key)
  }

  mutating func perform() throws { items = try storage.items(for: keys, details: .all) }
  func check() throws { try checkAll(items, count: count) }
}

private func checkAll(_ items: [ItemKey: SecureItem], count: Int) throws {
  guard items.count == count, items.values.allSatisfy({ $0.label?.isEmpty == false }) else {
    throw Failure("\(items.count) items instead of \(count) with labels")
  }
  try Sample.check((0..<count).map { items[Sample.key($0)]?.secret?.text }, count: count)
}

/// Reads the passwords of many keys one after another.
struct SingleReads: Work {
  let count: Int
  private let storage = Sample.storage()
  private let keys: [ItemKey]
  private var found: [String?] = []

  init(count: Int) {
    self.count = count
    keys = (0..<count).map(Sample.key)
  }

  mutating func perform() throws { found = try keys.map { try storage.password(for: $0) } }
  func check() throws { try Sample.check(found, count: count) }
}
