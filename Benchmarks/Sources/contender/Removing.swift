// SPDX-License-Identifier: Apache-2.0

import Contending
import Keyring
import KeyringStorage

/// Assigns `nil` to a property, which has a value each time.
struct PropertyRemoval: Work {
  @Password("remove-property") private var password: String?

  func prepare() throws { try $password.write("to be removed") }
  func perform() { password = nil }

  func check() throws {
    if let failure = $password.failure { throw failure }
    if try $password.exists() { throw Failure("the password wasn't removed") }
  }
}

/// Removes an existing item from the storage.
struct StorageRemoval: Work {
  private let storage = Sample.storage()
  private let key = ItemKey.password(service: Sample.service, account: "remove-storage")
  private var wasThere = false

  func prepare() throws { try storage.setPassword("to be removed", for: key) }
  mutating func perform() throws { wasThere = try storage.remove(key) }

  func check() throws {
    if try !wasThere || storage.password(for: key) != nil {
      throw Failure("the password wasn't removed")
    }
  }
}
