// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The passwords that all contenders read.
///
/// The C and Python contenders have the same rule.
package enum Sample {
  package static let service = "swift-keyring-benchmark"

  package static func account(_ number: Int) -> String { "account-\(number)" }
  package static func password(_ number: Int) -> String { "the secret of \(account(number))" }

  /// Throws an error unless this is the password of the first account.
  package static func check(_ found: String?) throws {
    guard found == password(0) else { throw Failure("another password was read") }
  }
}

/// Reads a dictionary that threads share, which is the least that a storage in memory does.
package final class DictionaryRead: Work {
  private let passwords = Mutex(
    Dictionary(uniqueKeysWithValues: (0..<20).map { (Sample.account($0), Sample.password($0)) }))
  private let account = Sample.account(0)
  private var found: String?

  package init() {}

  package var usesPerOperation: Int { 1_000 }

  package func perform() {
    for _ in 0..<1_000 { found = passwords.withLock { $0[account] } }
  }

  package func check() throws { try Sample.check(found) }
}
