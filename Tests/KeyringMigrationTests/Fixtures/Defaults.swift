// SPDX-License-Identifier: Apache-2.0

import KeyringMigration
import Synchronization

/// A replacement for the user defaults, where an app has kept its secrets so far.
final class Defaults: Sendable {
  let values: Mutex<[String: any Sendable]>

  init(_ values: [String: any Sendable]) { self.values = Mutex(values) }

  var names: [String] { values.withLock { $0.keys.sorted() } }
  func value(_ name: String) -> (any Sendable)? { values.withLock { $0[name] } }
  var plaintext: PlaintextSource {
    .values(
      read: { name in self.value(name) },
      remove: { names in self.values.withLock { for name in names { $0[name] = nil } } })
  }
}
