// SPDX-License-Identifier: Apache-2.0

import Contending
import Keyring
import KeyringStorage

/// Reads a property, which may have no value.
struct PropertyRead: Work {
  private let isAbsent: Bool
  @Password private var password: String?
  private var found: String?

  init(isAbsent: Bool = false) {
    self.isAbsent = isAbsent
    _password = Password(isAbsent ? "absent" : Sample.account(0))
  }

  mutating func perform() { found = password }

  func check() throws {
    if let failure = $password.failure { throw failure }
    try Sample.check(found, isAbsent: isAbsent)
  }
}

/// Reads an item from the storage itself, which may not have it.
struct StorageRead: Work {
  let storage: SecretServiceStorage
  private let isAbsent: Bool
  private let key: ItemKey
  private var found: String?

  init(storage: SecretServiceStorage = Sample.storage(), isAbsent: Bool = false) {
    (self.storage, self.isAbsent) = (storage, isAbsent)
    key = .password(service: Sample.service, account: isAbsent ? "absent" : Sample.account(0))
  }

  mutating func perform() throws { found = try storage.password(for: key) }
  func check() throws { try Sample.check(found, isAbsent: isAbsent) }
}

extension Sample {
  /// Throws an error unless this is the first password, or none if it's absent.
  fileprivate static func check(_ password: String?, isAbsent: Bool) throws {
    if !isAbsent { return try check([password], count: 1) }
    if password != nil { throw Failure("there is a password") }
  }
}
