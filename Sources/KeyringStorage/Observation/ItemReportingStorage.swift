// SPDX-License-Identifier: Apache-2.0

/// A storage whose reports of changes bring the new items with them.
///
/// A cache gets a changed item without reading it. When a secret of a fleet changes, its machines don't all
/// read it at the same moment.
package protocol ItemReportingStorage: ObservableStorage {
  /// Returns the item of a key from the last report of a change, or `nil` if you have to read it.
  ///
  /// The item is as new as all the items that this process has read or written.
  ///
  /// - Parameters:
  ///   - key: The key of the item.
  ///   - details: The parts of the item to return.
  /// - Returns: The item, if a report has brought it since the observation began.
  func reportedItem(for key: ItemKey, details: ItemQuery.Details) -> SecureItem?

  /// Forgets the items that reports have brought.
  func forgetReportedItems()
}
