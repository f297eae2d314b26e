#if SecretService && os(Linux)
internal import KeyringStorage

extension Call {
  /// Removes the items that a query selects, and tells how many that were.
  func removeItems(matching query: ItemQuery) throws(SecureStorageError) -> Int {
    let selected = try storedItems(matching: query)
    // The valid item last, or a reader would for a moment find the one that it has replaced.
    try remove(selected.flatMap { $0.items.reversed().map(\.path) })
    return selected.count
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
