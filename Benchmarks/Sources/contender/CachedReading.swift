import Keyring

/// Reads of a value in the keyring that the cache holds.
struct CachedRead: Work {
  private let storage: CachedStorage<SecretServiceStorage>
  private let key = Sample.key(0)
  private var found: String?

  init() throws {
    storage = Sample.storage().cached()
    // The first read has the keyring observed, and is the one that is kept.
    _ = try storage.password(for: key)
  }

  var usesPerOperation: Int { 1_000 }
  mutating func perform() throws { for _ in 0..<1_000 { found = try storage.password(for: key) } }
  func check() throws { try Sample.check([found], count: 1) }
}
