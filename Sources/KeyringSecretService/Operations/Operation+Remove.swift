// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
internal import KeyringStorage

extension Operation {
  /// Finds the items that a query selects, grouped by key, with the valid item of each key first.
  func itemsToRemove(matching query: ItemQuery) async throws(SecureStorageError) -> [[StoredItem]] {
    var query = query
    // Some providers delete locked items without asking for the password, so they're unlocked first.
    query.allowsUnlocking = true
    let selected = try await storedItems(matching: query, needsDuplicates: true)
      .map(\.items)
    // An item that Python's keyring put next to this package's password is removed too, so that the
    // password stays removed.
    guard query.leavesOthers else { return selected }
    return selected.map { items in items.filter { $0.isOwn == items[0].isOwn } }
  }

  /// Finds the selected items that are still there.
  ///
  /// They may have other paths, because the provider may have been restarted.
  func itemsStillPresent(of selected: [[StoredItem]]) async throws(SecureStorageError)
    -> [[StoredItem]]
  {
    var remaining: [[StoredItem]] = []
    for item in selected.joined() {
      let same = try await storedItems(withOnly: item.attributes)
        .filter { $0.mayBeSame(as: item) }
      if !same.isEmpty { remaining.append(same) }
    }
    return remaining
  }

  /// Removes the selected items.
  func remove(_ selected: [[StoredItem]]) async throws(SecureStorageError) {
    for item in selected.joined() {
      // A new item must not be looked for at the old path.
      if let key = ItemKey(itemAttributes: item.attributes) { record(nil, of: key) }
    }
    // Remove the valid item last. Otherwise a reader would briefly find the item that it replaced.
    try await remove(selected.flatMap { $0.reversed().map(\.path) })
  }
}
#endif
