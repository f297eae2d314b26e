// SPDX-License-Identifier: Apache-2.0

/// A mode that determines how saving treats an existing or a missing item.
public enum SaveMode: Sendable, Hashable {
  /// A mode that stores a new item, and throws `.itemAlreadyExists` if there already is one.
  ///
  /// This mode never replaces an item. A storage that several processes share may have no atomic "create if
  /// absent". In that case, the processes take turns. If a sandbox prevents that, a process removes its own item
  /// again if it finds another one. So if two processes add the same key at the same moment, one of them succeeds
  /// or neither does. Until the item is removed again, other processes may read it, and what they write to it is
  /// lost.
  case add
  /// A mode that changes an existing item, and throws `.itemNotFound` if there is none.
  case update
  /// A mode that stores the item regardless of whether there already is one.
  case addOrReplace
}
