// SPDX-License-Identifier: Apache-2.0

/// An event that an ``ObservableStorage`` reports to its observers.
public enum StorageEvent: Sendable, Hashable {
  /// An item was created, replaced or removed.
  case changed(ItemChange)

  /// The item with this key may have changed, or for `nil` any item.
  ///
  /// Values that you read earlier may be out of date. A change of an item is reported as soon as it's known.
  case mayHaveChanged(ItemKey?)

  /// A program is about to change the item with this key, or for `nil` any item.
  ///
  /// Values that you read from now on may soon be out of date. Keep none before ``settled(_:)`` is reported
  /// with the same key. If several programs change the item, both events are reported once for each.
  case changing(ItemKey?)

  /// A change that was reported with ``changing(_:)`` was made or given up, or its program has ended.
  ///
  /// Values that you read earlier may be out of date. A change of an item is also reported.
  case settled(ItemKey?)

  /// The storage was locked.
  case locked

  /// The connection to the items was lost, so changes go unnoticed until ``resumed``.
  case interrupted

  /// The connection is back.
  ///
  /// The changes that happened in between were reported, or a locked storage reports them after an unlock.
  case resumed
}
