// SPDX-License-Identifier: Apache-2.0

/// A mode that determines how saving treats an existing or a missing item.
///
/// ```swift
/// try storage.save(item, mode: .update)  // throws .itemNotFound for an absent item
/// ```
public enum SaveMode: Sendable, Hashable {
  /// A mode that stores a new item, and throws `.itemAlreadyExists` if there already is one.
  ///
  /// If two processes add the same key at the same moment, one of them succeeds, or in some sandboxes
  /// neither.
  case add
  /// A mode that changes an existing item, and throws `.itemNotFound` if there is none.
  case update
  /// A mode that stores the item regardless of whether there already is one.
  case addOrReplace
}
