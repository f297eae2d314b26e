// SPDX-License-Identifier: Apache-2.0

import Contending
import Keyring
import KeyringStorage

/// Assigns a password to a property that has none, or has another one.
struct PropertyWrite: Work {
  let isNew: Bool
  @Password("write-property") private var password: String?
  private var number = 0

  init(isNew: Bool) { self.isNew = isNew }

  mutating func prepare() throws {
    if isNew { try $password.remove() } else if number == 0 { try $password.write("the first") }
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

/// Stores each of some passwords in turn, as a new one or in place of another one.
struct StorageWrite: Work {
  let isNew: Bool
  private let storage = Sample.storage()
  private let keys: [ItemKey]
  private var number = 0

  init(count: Int = 1, isNew: Bool = false) {
    self.isNew = isNew
    keys = (0..<count).map { .password(service: Sample.service, account: "write-storage-\($0)") }
  }

  mutating func prepare() throws {
    if number == 0, !isNew { for key in keys { try storage.setPassword("the first", for: key) } }
    number += 1
    if isNew { try storage.remove(key) }
  }

  private var key: ItemKey { keys[number % keys.count] }

  func perform() throws { try storage.setPassword("the secret \(number)", for: key) }

  func check() throws {
    guard try storage.password(for: key) == "the secret \(number)" else {
      throw Failure("the password wasn't written")
    }
  }
}
