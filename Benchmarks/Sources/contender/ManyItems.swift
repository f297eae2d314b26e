import Keyring

/// All items of the service with one query, with their metadata.
struct Query: Work {
  let count: Int
  let storage: SecretServiceStorage
  private var items: [SecureItem] = []

  init(count: Int, storage: SecretServiceStorage) {
    self.count = count
    self.storage = storage
  }

  mutating func perform() throws {
    items = try storage.items(matching: .service(Sample.service, details: .all))
  }

  func check() throws {
    try checkAll(Dictionary(items.map { ($0.key, $0) }) { $1 }, count: count)
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
