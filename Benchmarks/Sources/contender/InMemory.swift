// SPDX-License-Identifier: Apache-2.0

import Contending
import Keyring
import KeyringStorage

// A use takes a few hundred nanoseconds, so a thousand uses are timed together.
private let uses = 1_000

/// Reads a property whose storage is in memory.
struct PropertyInMemoryRead: Work {
  @Password("account-0") private var password: String?
  private var found: String?

  init() throws {
    let storage = InMemoryStorage()
    for number in 0..<20 {
      try storage.setPassword(Sample.password(number), for: Sample.key(number))
    }
    SecureStorageDefaults.storage = storage
  }

  var usesPerOperation: Int { uses }
  mutating func perform() { for _ in 0..<uses { found = password } }
  func check() throws { try Sample.check(found) }
}

/// Assigns to a property whose storage is in memory.
struct PropertyInMemoryWrite: Work {
  @Password("account-0") private var password: String?
  private let values = ["the secret in one place", "the secret in the other"]
  private var number = 0

  init() { SecureStorageDefaults.storage = InMemoryStorage() }

  var usesPerOperation: Int { uses }

  mutating func perform() {
    for _ in 0..<uses {
      number += 1
      password = values[number & 1]
    }
  }

  func check() throws {
    guard password == values[number & 1] else { throw Failure("the password wasn't written") }
  }
}
