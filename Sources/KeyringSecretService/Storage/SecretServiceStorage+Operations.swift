// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
internal import KeyringStorage

extension SecretServiceStorage {
  func store(_ item: SecureItem, mode: SaveMode) async throws(SecureStorageError) {
    try await withSaveLock(on: item.key, .save) {
      () async throws(SecureStorageError) in
      try await perform(.save, mayRepeatWrites: mode != .add) {
        (call) async throws(SecureStorageError) in
        try await call.save(item, mode: mode)
      }
    }
  }

  func find(_ query: ItemQuery) async throws(SecureStorageError) -> [SecureItem] {
    let reporter = query.onProgress.map(ProgressReporter.init)
    let found = await Result { () async throws(SecureStorageError) in
      try await perform(.read) { (call) async throws(SecureStorageError) in
        if let reporter { call.whenLooking = { reporter.report($0, of: $1) } }
        return try await call.items(matching: query)
      }
    }
    await reporter?.finish()
    return try found.get()
  }

  /// Finds the items stored under keys.
  ///
  /// - Parameters:
  ///   - keys: The keys, without duplicates.
  ///   - details: The details of the items to fetch.
  ///   - whenAsking: A closure that is called with `true` when a person is asked, and with `false` when
  ///     that is over.
  ///   - whenRenewed: A closure that is called each time that answers renew the deadline.
  /// - Returns: The found items, by key.
  /// - Throws: `SecureStorageError` if one of the items can't be read, or may be hidden.
  func find(
    _ keys: [ItemKey], _ details: ItemQuery.Details,
    whenAsking: @escaping (Bool) -> Void = { _ in }, whenRenewed: @escaping () -> Void = {}
  ) async throws(SecureStorageError) -> [ItemKey: SecureItem] {
    let questions = { options.collection.searches(for: keys) }
    return try await perform(.read, prefetching: questions) {
      (call) async throws(SecureStorageError) in
      (call.whenAsking, call.whenRenewed) = (whenAsking, whenRenewed)
      return try await call.items(for: keys, details)
    }
  }

  func remove(_ query: ItemQuery) async throws(SecureStorageError) -> Int {
    var selected: [[StoredItem]]?
    try await perform(.remove) { (call) async throws(SecureStorageError) in
      // If the first try removed something before its session was lost, the second try must not remove
      // the items that the query selects next.
      let items =
        if let selected { try await call.itemsStillPresent(of: selected) } else {
          try await call.itemsToRemove(matching: query)
        }
      selected = selected ?? items
      try await call.remove(items)
    }
    return selected?.count ?? 0
  }
}

extension SecretServiceStorage {
  func lockCollection() async throws(SecureStorageError) {
    try await perform(.lock) { (call) async throws(SecureStorageError) in
      try await call.lock(call.lockableCollection())
    }
  }

  func unlockCollection() async throws(SecureStorageError) {
    try await perform(.unlock) { (call) async throws(SecureStorageError) in
      let collection = try await call.lockableCollection()
      if try await call.isLocked(collection) { try await call.unlock([collection]) }
    }
  }

  func isCollectionLocked() async throws(SecureStorageError) -> Bool {
    try await perform(.read) { (call) async throws(SecureStorageError) in
      try await call.isLocked(call.existingCollection())
    }
  }

  func examined() async -> SecretServiceDiagnosis {
    var examination = SecretServiceDiagnosis(self)
    await examination.run()
    return examination
  }

  /// Tells the observers in this process that an operation may have changed an item.
  ///
  /// This happens before the operation returns, even if the write failed: it may have taken place.
  func noteWrite(of key: ItemKey?) { ChangeMonitor.noteWrite(of: key, at: options.busAddress) }
}
#endif
