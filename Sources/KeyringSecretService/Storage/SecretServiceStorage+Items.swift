// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
internal import KeyringRuntime
public import KeyringStorage

extension SecretServiceStorage: AsynchronousStorage {
  /// The durability: changes survive a regular end of the keyring.
  ///
  /// A crash may lose the last ones, and so may a logout that doesn't wait for the keyring.
  ///
  /// The items of the session collection are temporary.
  public var durability: StorageDurability {
    options.collection == .session ? .temporary : .afterRestart
  }

  /// Stores an item under its key.
  ///
  /// The errors `.locked` and `.userCanceled` leave the old item unchanged.
  @concurrent public func saveWithoutBlocking(
    _ item: SecureItem, mode: SaveMode
  ) async throws(SecureStorageError) {
    try validate(item)
    defer { ChangeMonitor.noteWrite(of: item.key, at: options.busAddress) }
    if mode == .add { return try await add(item) }
    try await perform(.save, lockedOn: item.key) {
      (call) async throws(SecureStorageError) in
      try await ItemWriter(call).save(item, mode: mode)
    }
  }

  /// Finds items, newest first.
  ///
  /// A login and its password always belong together, but a secret may be newer than its label. The error
  /// is `.ambiguous` if a key matches several items of other programs and none of this package.
  public nonisolated(nonsending) func itemsWithoutBlocking(
    matching query: ItemQuery
  ) async throws(SecureStorageError) -> [SecureItem] {
    try validate(query, for: .read)
    if let key = query.key, query.asksForKeyOnly, query.allowsUnlocking {
      return try await itemsWithoutBlocking(for: [key], details: query.details).map(\.value)
    }
    return try await find(query)
  }

  private func find(_ query: ItemQuery) async throws(SecureStorageError) -> [SecureItem] {
    let reporter = query.onProgress.map(ProgressReporter.init)
    let found = await Result { () async throws(SecureStorageError) in
      try await perform(.read) { (call) async throws(SecureStorageError) in
        if let reporter { call.whenLooking = { reporter.report($0, of: $1) } }
        return try await ItemFinder(call).selectedItems(matching: query)
      }
    }
    await reporter?.finish()
    return try found.get()
  }

  /// Finds the items stored under keys, with as many waits as for one item.
  ///
  /// Asynchronous reads that you start while others are in progress are sent together.
  public nonisolated(nonsending) func itemsWithoutBlocking(
    for keys: [ItemKey], details: ItemQuery.Details
  ) async throws(SecureStorageError) -> [ItemKey: SecureItem] {
    for key in keys { try validate(.key(key, details: details), for: .read) }
    let keys = keys.count > 1 ? Array(Set(keys)) : keys
    if keys.isEmpty { return [:] }
    if ThreadExecutor.ofCurrentTask?.isSynchronous == true {
      return try await find(keys, details)
    }
    return try await ReadQueue.shared.items(for: keys, details, in: self)
  }

  /// Removes the items that ``itemsWithoutBlocking(matching:)`` finds, permanently.
  @concurrent public func removeItemsWithoutBlocking(
    matching query: ItemQuery
  ) async throws(SecureStorageError) -> Int {
    try validate(query, for: .remove)
    defer { ChangeMonitor.noteWrite(of: query.key, at: options.busAddress) }
    var selected: [[StoredItem]]?
    try await perform(.remove) { (call) async throws(SecureStorageError) in
      let writer = ItemWriter(call)
      // If the first try removed something before its session was lost, the second try must not remove
      // the items that the query selects next.
      try await call.repeatingRefusedChanges { () async throws(SecureStorageError) in
        let items =
          if let selected { try await writer.itemsStillPresent(of: selected) } else {
            try await writer.itemsToRemove(matching: query)
          }
        selected = selected ?? items
        try await writer.remove(items)
      }
    }
    return selected?.count ?? 0
  }
}
#endif
