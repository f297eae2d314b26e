import Keyring

/// All items of the service with one query, with their metadata.
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

/// The keys of all items of the service, or the newest items, whose number is that of their account.
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
      throw Failure("\(items.count) items, and not the \(count) expected")
    }
    if wish == .keys { return }
    guard items.map({ $0.secret?.text }) == accounts.map({ "the secret of \($0)" }) else {
      throw Failure("other passwords were read than were stored")
    }
  }
}

/// The items of many keys in one go, with their metadata.
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
    throw Failure("\(items.count) items with labels, and not the \(count) expected")
  }
  try Sample.check((0..<count).map { items[Sample.key($0)]?.secret?.text }, count: count)
}

/// The passwords of many keys, one read after the other.
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
