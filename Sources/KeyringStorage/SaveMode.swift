// SPDX-License-Identifier: Apache-2.0

/// A mode that determines how saving treats an existing or a missing item.
///
/// ```swift
/// try storage.save(item, mode: .update)  // throws .itemNotFound for an absent item
/// ```
public enum SaveMode: Sendable, Hashable {
  /// A mode that stores a new item, and throws `.itemAlreadyExists` for a present one.
  ///
  /// Of two processes that add the same key at the same moment, one succeeds, or in some sandboxes neither.
  case add
  /// A mode that changes an existing item, and throws `.itemNotFound` for an absent one.
  case update
  /// A mode that stores the item in place of any present one.
  case addOrReplace
}
