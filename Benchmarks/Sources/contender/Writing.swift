// SPDX-License-Identifier: Apache-2.0

import Contending
import Keyring
import KeyringStorage

/// Assigns a password in place of another one.
struct PropertyWrite: Work {
  @Password("write-property") private var password: String?
  private var number = 0

  mutating func prepare() throws {
    if number == 0 { try $password.write("the first") }
    number += 1
  }

  func perform() { password = "the secret \(number)" }

  func check() throws {
    if let failure = $password.failure { throw failure }
    guard try $password.read() == "the secret \(number)" else {
      throw Failure("the password wasn't written")
    }
  }
}

/// Stores a password in place of another one.
struct StorageWrite: Work {
  private let storage = Sample.storage()
  private let key = ItemKey.password(service: Sample.service, account: "write-storage")
  private var number = 0

  mutating func prepare() throws {
    if number == 0 { try storage.setPassword("the first", for: key) }
    number += 1
  }

  func perform() throws { try storage.setPassword("the secret \(number)", for: key) }

  func check() throws {
    guard try storage.password(for: key) == "the secret \(number)" else {
      throw Failure("the password wasn't written")
    }
  }
}

/// Assigns a value to a property that has none.
struct PropertyCreation: Work {
  @Password("create-property") private var password: String?
  private var number = 0

  mutating func prepare() throws {
    try $password.remove()
    number += 1
  }

  func perform() { password = "the secret \(number)" }

  func check() throws {
    if let failure = $password.failure { throw failure }
    guard try $password.read() == "the secret \(number)" else {
      throw Failure("the password wasn't written")
    }
  }
}

/// Stores a new password.
struct StorageCreation: Work {
  private let storage = Sample.storage()
  private let key = ItemKey.password(service: Sample.service, account: "create-storage")
  private var number = 0

  mutating func prepare() throws {
    try storage.remove(key)
    number += 1
  }

  func perform() throws { try storage.setPassword("the secret \(number)", for: key) }

  func check() throws {
    guard try storage.password(for: key) == "the secret \(number)" else {
      throw Failure("the password wasn't written")
    }
  }
}

/// Replaces each of many passwords in turn.
struct WritesInTurn: Work {
  private let storage = Sample.storage()
  private let keys: [ItemKey]
  private var number = 0

  init(count: Int) {
    keys = (0..<count).map { .password(service: Sample.service, account: "in-turn-\($0)") }
  }

  mutating func prepare() throws {
    if number == 0 { for key in keys { try storage.setPassword("the first", for: key) } }
    number += 1
  }

  private var key: ItemKey { keys[number % keys.count] }

  func perform() throws { try storage.setPassword("the secret \(number)", for: key) }

  func check() throws {
    guard try storage.password(for: key) == "the secret \(number)" else {
      throw Failure("the password wasn't written")
    }
  }
}
