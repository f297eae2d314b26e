// SPDX-License-Identifier: Apache-2.0

/// A storage whose reports of changes bring the new items with them.
///
/// A cache gets a changed item with the report. A new secret of a fleet then causes no reads of all of its
/// machines at once.
package protocol ItemReportingStorage: ObservableStorage {
  /// Returns the item of a key from the last report of a change, or `nil` for one that you have to read.
  ///
  /// The item is as new as all the items that this process has read or written.
  ///
  /// - Parameters:
  ///   - key: The key of the item.
  ///   - details: The parts of the item to return.
  /// - Returns: The item that a report has brought since the observation began.
  func reportedItem(for key: ItemKey, details: ItemQuery.Details) -> SecureItem?

  /// Forgets the items that reports have brought.
  func forgetReportedItems()
}
