// SPDX-License-Identifier: Apache-2.0

import Contending
import Keyring
import KeyringStorage

/// The passwords that all contenders read.
///
/// The C and Python contenders have the same rule.
enum Sample {
  static let service = "swift-keyring-benchmark"

  static func account(_ number: Int) -> String { "account-\(number)" }
  static func password(_ number: Int) -> String { "the secret of \(account(number))" }

  static func key(_ number: Int) -> ItemKey {
    .password(service: service, account: account(number))
  }

  static func storage(inCollection name: String? = nil) -> SecretServiceStorage {
    SecretServiceStorage(collection: name == "session" ? .session : .default, interaction: .never)
  }

  /// Throws an error unless these are the passwords of the accounts from 0 on, in their order.
  static func check(_ passwords: [String?], count: Int) throws {
    guard passwords == (0..<count).map(password) else {
      throw Failure("the passwords that were read aren't the stored ones")
    }
  }
}

/// Stores the passwords of some accounts, as an app would.
///
/// The arguments are SERVICE FROM TO COLLECTION.
func fill(_ arguments: ArraySlice<String>) throws {
  let arguments = Array(arguments)
  guard arguments.count == 4, let from = Int(arguments[1]), let end = Int(arguments[2]) else {
    throw Failure("fill SERVICE FROM TO COLLECTION")
  }
  let storage = Sample.storage(inCollection: arguments[3])
  for number in from..<end {
    let key = ItemKey.password(service: arguments[0], account: Sample.account(number))
    try storage.setPassword(Sample.password(number), for: key)
  }
}
