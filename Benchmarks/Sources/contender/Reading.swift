import Keyring

/// A read through a property.
struct PropertyRead: Work {
  @Password("account-0") private var password: String?
  private var found: String?

  mutating func perform() { found = password }

  func check() throws {
    if let failure = $password.failure { throw failure }
    try Sample.check([found], count: 1)
  }
}

/// A read from the storage itself.
struct StorageRead: Work {
  let storage: SecretServiceStorage
  private let key = Sample.key(0)
  private var found: String?

  init(storage: SecretServiceStorage) { self.storage = storage }

  mutating func perform() throws { found = try storage.password(for: key) }
  func check() throws { try Sample.check([found], count: 1) }
}
