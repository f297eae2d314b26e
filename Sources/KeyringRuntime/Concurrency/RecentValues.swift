// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// A cache of recently found values, for programs that use the same keys repeatedly.
package final class RecentValues<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  private let values = Mutex<[Key: Value]>([:])

  /// The number of values at which all are forgotten.
  ///
  /// A program with more keys than this uses each of them rarely.
  private static var limit: Int { 4096 }

  package init() {}

  package var keys: [Key] { values.withLock { Array($0.keys) } }

  package func removeAll() { values.withLock { $0 = [:] } }

  package subscript(key: Key) -> Value? {
    get { values.withLock { $0[key] } }
    set {
      values.withLock { values in
        if values.count >= Self.limit { values = [:] }
        values[key] = newValue
      }
    }
  }
}
