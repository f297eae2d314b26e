#if SecretService && os(Linux)
internal import KeyringStorage

extension Call {
  /// Finds what a query selects, for each key its items, the valid one first.
  func itemsToRemove(matching query: ItemQuery) async throws(SecureStorageError) -> [[StoredItem]] {
    var query = query
    // KWallet deletes what is locked without a word.
    query.unlocks = true
    let selected = try await storedItems(matching: query, needsDuplicates: true)
      .map(\.items)
    // What python's keyring has put beside our password goes with it, so that it stays removed.
    guard query.leavesOthers else { return selected }
    return selected.map { items in items.filter { $0.isOwn == items[0].isOwn } }
  }

  /// Finds those of the items that are still there, under whatever paths: the provider may have been
  /// restarted.
  func remaining(_ selected: [[StoredItem]]) async throws(SecureStorageError) -> [[StoredItem]] {
    var remaining: [[StoredItem]] = []
    for item in selected.joined() {
      let attributes = item.attributes.filter { $0.key != AttributeName.schema }
      let same = try await storedItems(with: attributes).items.filter { other in
        other.attributes.isExactly(item.attributes)
      }
      if !same.isEmpty { remaining.append(same) }
    }
    return remaining
  }

  /// Removes the items that were selected.
  func remove(_ selected: [[StoredItem]]) async throws(SecureStorageError) {
    for item in selected.joined() {
      // A new one is not to be looked for where this was.
      if let key = ItemKey(itemAttributes: item.attributes) { note(nil, of: key) }
    }
    // The valid item last, or a reader would for a moment find the one that it has replaced.
    try await remove(selected.flatMap { $0.reversed().map(\.path) })
  }

  /// Deletes items; one that is gone already is no error.
  func remove(_ items: [ObjectPath]) async throws(SecureStorageError) {
    if items.isEmpty { return }
    hasWritten = true
    for case let answer? in try await send(items.map { .delete($0) }) {
      let prompt = ObjectPath(answer.child(0).text)
      if !prompt.isNone { _ = try await self.answer(to: prompt) }
    }
  }
}
#endif
