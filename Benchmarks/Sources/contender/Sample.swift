// SPDX-License-Identifier: Apache-2.0

import Contending
import Keyring
import KeyringStorage

extension Sample {
  static func key(_ number: Int) -> ItemKey {
    .password(service: service, account: account(number))
  }

  static func storage() -> SecretServiceStorage { SecretServiceStorage(interaction: .never) }

  /// Throws an error unless these are the passwords of the accounts from 0 on, in their order.
  static func check(_ passwords: [String?], count: Int) throws {
    guard passwords == (0..<count).map(password) else {
      throw Failure("the passwords that were read aren't the stored ones")
    }
  }

  /// Stores the passwords of the first accounts, as an app would.
  static func fill(_ count: Int) throws {
    let storage = storage()
    for number in 0..<count { try storage.setPassword(password(number), for: key(number)) }
  }
}
