#if SecretService && os(Linux)
internal import KeyringStorage

extension Call {
  /// Finds what a query selects, for each key its items, the valid one first.
  func itemsToRemove(matching query: ItemQuery) throws(SecureStorageError) -> [[StoredItem]] {
    var query = query
    // KWallet deletes what is locked without a word.
    query.unlocks = true
    return try storedItems(matching: query).map(\.items)
  }

  /// Finds those of the items that are still there, under whatever paths: the provider may have been
  /// restarted.
  func remaining(_ selected: [[StoredItem]]) throws(SecureStorageError) -> [[StoredItem]] {
    var remaining: [[StoredItem]] = []
    for item in selected.joined() {
      let attributes = item.attributes.filter { $0.key != AttributeName.schema }
      let same = try storedItems(with: attributes).filter { other in
        other.attributes.isExactly(item.attributes)
      }
      if !same.isEmpty { remaining.append(same) }
    }
    return remaining
  }

  /// Removes the items that were selected, by their key or in another way.
  func remove(_ selected: [[StoredItem]], of key: ItemKey?) throws(SecureStorageError) {
    for item in selected.joined() {
      // A new one is not to be looked for where this was.
      if let key = ItemKey(itemAttributes: item.attributes) {
        session.itemPlaces.noteWritten(false, key, in: options.collection)
      }
    }
    // The valid item last, or a reader would for a moment find the one that it has replaced.
    try remove(selected.flatMap { $0.reversed().map(\.path) })
    if let key, selected.first?.first?.isOwn == true { try removeTwin(of: key) }
  }

  /// Removes what python's keyring has put beside our password, so that what was removed stays so.
  ///
  /// keyring 23.9.3 changes a password of ours by making an item with its attribute "application".
  /// Whatever else there is belongs to somebody who did not mean ours.
  private func removeTwin(of key: ItemKey) throws(SecureStorageError) {
    guard key.kind == .password else { return }
    let twins = try foreignItems(for: key).filter { stored in
      Set(stored.extraAttributes(of: key).keys) == ["application"]
    }
    if twins.count == 1 { try remove(twins.map(\.path)) }
  }

  /// Deletes items; one that is gone already is no error.
  func remove(_ items: [ObjectPath]) throws(SecureStorageError) {
    if items.isEmpty { return }
    hasWritten = true
    for case let answer? in try send(items.map { .delete($0) }) {
      let prompt = ObjectPath(answer.child(0).text)
      if !prompt.isNone { _ = try self.answer(to: prompt) }
    }
  }
}
#endif
