// SPDX-License-Identifier: Apache-2.0

public import KeyringStorage

/// The outcome of an operation on all items of a service or a query.
///
/// ```swift
/// let outcome = try storage.service("org.example.app").removeAll()
/// for key in outcome.left { print("Left for the program that has stored it: \(key)") }
/// ```
public struct BulkOutcome: Sendable, Hashable {
  /// The number of items that were removed, moved or copied.
  public let count: Int
  /// The keys of the items that were left.
  ///
  /// They're another program's own: see ``/KeyringStorage/SecureItem/isForeign``. After the removal of all
  /// properties, it's all that the services and the servers of the properties still have.
  public let left: [ItemKey]

  package init(count: Int, left: [ItemKey] = []) { (self.count, self.left) = (count, left) }
}
