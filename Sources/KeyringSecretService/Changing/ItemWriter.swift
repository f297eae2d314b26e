// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
internal import KeyringStorage

/// The part of an operation that stores and removes items.
struct ItemWriter {
  let finder: ItemFinder
  /// The turn in which an item is added, if there is one.
  var turn: BusTurn?
  /// The item that a change in a turn expects to find.
  var expectation: Expectation?
  var call: Operation { finder.call }

  init(_ call: Operation) { finder = ItemFinder(call) }

  /// Finds the items that a query selects, grouped by key, with the valid item of each key first.
  func itemsToRemove(matching query: ItemQuery) async throws(SecureStorageError) -> [[StoredItem]] {
    var query = query
    // Some providers delete locked items without asking for the password, so they're unlocked first.
    query.allowsUnlocking = true
    let selected = try await finder.queriedItems(matching: query, needsDuplicates: true)
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
      let same = try await finder.exactItems(withOnly: item.attributes)
        .filter { $0.mayBeSame(as: item) }
      if !same.isEmpty { remaining.append(same) }
    }
    return remaining
  }

  /// Removes the item with a key, if it's the expected one.
  func remove(
    _ key: ItemKey, expecting expectation: Expectation
  ) async throws(SecureStorageError) {
    try await call.repeatingRefusedChanges { () async throws(SecureStorageError) in
      let selected = try await itemsToRemove(matching: .key(key))
      try await expectation.check(selected.first?.first, finder)
      if !expectation.isBroken { try await remove(selected) }
    }
  }

  /// Removes the selected items, or none of them if another item might be removed with them.
  func remove(_ selected: [[StoredItem]]) async throws(SecureStorageError) {
    let items = Array(selected.joined())
    let removable = Set(try await removable(items).map(\.path))
    if let item = items.first(where: { !removable.contains($0.path) }) {
      throw call.failure(
        .other,
        """
        The keyring might remove other items together with "\(item.label.excerpt)": those with the same attributes, \
        and more.
        """, recoverySuggestion: "Remove the item in your keyring manager, or the others first.")
    }
    for item in selected.joined() {
      // A new item must not be looked for at the old path.
      if let key = item.key { finder.forget(key) }
    }
    // Remove the valid item last. Otherwise a reader would briefly find the item that it replaced.
    try await delete(selected.flatMap { $0.reversed().map(\.path) })
  }

  /// Removes items, except those with which another item might be removed.
  func remove(_ items: [StoredItem]) async throws(SecureStorageError) {
    try await delete(removable(items).map(\.path))
  }

  /// Returns the items whose removal leaves all others alone.
  ///
  /// Some providers also remove every item that has all attributes of the removed one.
  private func removable(_ items: [StoredItem]) async throws(SecureStorageError) -> [StoredItem] {
    let doubtful =
      call.provider.changesOneItem
      ? [] : items.filter { $0.attributes[AttributeName.unique] == nil }
    if doubtful.isEmpty { return items }
    let searches = doubtful.map {
      MethodCall.searchItems(in: $0.path.collection, $0.reportedAttributes)
    }
    let removed = Set(items.map(\.path))
    var kept: Set<ObjectPath> = []
    for (item, answer) in zip(doubtful, try await call.send(searches))
    where answer == nil || !removed.isSuperset(of: call.itemPaths(in: answer)) {
      kept.insert(item.path)
    }
    // An item that stays may have all attributes of another one.
    return kept.isEmpty ? items : try await removable(items.filter { !kept.contains($0.path) })
  }

  /// Removes items that readers ignore, as far as that is possible.
  func removeIfPossible(_ items: [StoredItem]) async throws(SecureStorageError) {
    if items.isEmpty { return }
    try await cleaningUp { () async throws(SecureStorageError) in try await remove(items) }
  }

  /// Runs a closure that removes items that readers ignore, as far as that is possible.
  ///
  /// The new value of a save may be stored already. The save therefore succeeds even with a keyring that refuses to
  /// remove an old one, or a user who declines or is silent. The next save tries again. A keyring that
  /// is lost or hangs may lose the new value, too.
  ///
  /// - Parameter body: The closure.
  /// - Throws: The error of a lost or hanging keyring, or of a cancelled task.
  // Not inlined: the steps of a save would contain it several times.
  @inline(never)
  func cleaningUp(
    _ body: () async throws(SecureStorageError) -> Void
  ) async throws(SecureStorageError) {
    do throws(SecureStorageError) {
      try await body()
    } catch {
      if error.code == .connectionLost { throw error }
      try call.checkDeadline()
    }
  }

  /// Deletes items, and ignores those that are already deleted.
  func delete(_ items: [ObjectPath]) async throws(SecureStorageError) {
    if items.isEmpty { return }
    call.hasWritten = true
    for case let answer? in try await call.send(items.map { .delete($0) }) {
      try await call.finish(answer.child(0))
    }
  }
}
#endif
