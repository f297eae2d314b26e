// SPDX-License-Identifier: Apache-2.0

/// A description of a collection.
///
/// ```swift
/// for collection in try storage.collections() where collection.isLocked { print(collection.label) }
/// ```
public struct ItemCollection: Sendable, Hashable {
  /// The label of the collection, for people and programs.
  public var label: String
  /// Whether the items of the collection are locked.
  public var isLocked: Bool
  /// Whether the collection is the default one of the user's keyring.
  public var isDefault: Bool

  /// Creates a description of a collection.
  ///
  /// - Parameters:
  ///   - label: The label of the collection.
  ///   - isLocked: Whether the items of the collection are locked.
  ///   - isDefault: Whether the collection is the default one.
  public init(label: String, isLocked: Bool, isDefault: Bool) {
    self.label = label
    self.isLocked = isLocked
    self.isDefault = isDefault
  }
}
