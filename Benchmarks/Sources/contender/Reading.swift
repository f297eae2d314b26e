// SPDX-License-Identifier: Apache-2.0

import Contending
import Keyring
import KeyringStorage

/// Reads a property.
struct PropertyRead: Work {
  @Password("account-0") private var password: String?
  private var found: String?

  mutating func perform() { found = password }

  func check() throws {
    if let failure = $password.failure { throw failure }
    try Sample.check([found], count: 1)
  }
}

/// Reads an item from the storage itself.
struct StorageRead: Work {
  let storage: SecretServiceStorage
  private let key = Sample.key(0)
  private var found: String?

  init(storage: SecretServiceStorage) { self.storage = storage }

  mutating func perform() throws { found = try storage.password(for: key) }
  func check() throws { try Sample.check([found], count: 1) }
}

/// Reads a property that has no value.
struct PropertyAbsentRead: Work {
  @Password("absent-property") private var password: String?
  private var found: String?

  mutating func perform() { found = password }

  func check() throws {
    if let failure = $password.failure { throw failure }
    if found != nil { throw Failure("there is a password") }
  }
}

/// Reads an absent item from the storage itself.
struct StorageAbsentRead: Work {
  private let storage = Sample.storage()
  private let key = ItemKey.password(service: Sample.service, account: "absent-storage")
  private var found: String?

  mutating func perform() throws { found = try storage.password(for: key) }
  func check() throws { if found != nil { throw Failure("there is a password") } }
}
