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
    try await perform(.save, lockedOn: item.key, mayRepeatWrites: mode != .add) {
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

  /// Finds the items stored under keys.
  ///
  /// - Parameters:
  ///   - keys: The keys, without duplicates.
  ///   - details: The details of the items to fetch.
  ///   - whenAsking: A closure that is called with `true` when the user is asked, and with `false` when
  ///     that is over.
  ///   - whenRenewed: A closure that is called each time that answers renew the deadline.
  /// - Returns: The found items, by key.
  /// - Throws: `SecureStorageError` if one of the items can't be read, or may be hidden.
  @concurrent func find(
    _ keys: [ItemKey], _ details: ItemQuery.Details,
    whenAsking: @escaping (Bool) -> Void = { _ in }, whenRenewed: @escaping () -> Void = {}
  ) async throws(SecureStorageError) -> [ItemKey: SecureItem] {
    let questions = { options.collection.searches(for: keys) }
    return try await perform(.read, prefetching: questions) {
      (call) async throws(SecureStorageError) in
      (call.whenAsking, call.whenRenewed) = (whenAsking, whenRenewed)
      return try await ItemFinder(call).items(for: keys, details)
    }
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

// MARK: - Sessions

extension SecretServiceStorage {
  /// Runs an operation in the open session, and again in a new one if that session is lost or unusable.
  ///
  /// A lost session is replaced once, so that a message that makes its provider crash isn't sent to each of
  /// its successors. An unusable session has changed nothing, and is replaced several times.
  ///
  /// - Parameters:
  ///   - operation: The operation that errors name.
  ///   - key: The key for which no other task of the process runs such an operation meanwhile, or `nil`.
  ///   - mayRepeatWrites: Whether the operation may run again after it has changed something.
  ///   - questions: A closure that returns the messages to send while a session is opened, if necessary.
  ///   - body: The operation.
  /// - Returns: The result of the operation.
  /// - Throws: The error of the operation, or the reason for the missing session.
  @concurrent func perform<Result>(
    _ operation: SecureStorageError.Operation, lockedOn key: ItemKey? = nil,
    mayRepeatWrites: Bool = true,
    prefetching questions: () -> [MethodCall] = { [] },
    _ body: (Operation) async throws(SecureStorageError) -> Result
  ) async throws(SecureStorageError) -> Result {
    try refuseForkedProcess(operation)
    try requireLibraries(for: operation)
    let failure = { error($0, during: operation) }
    return try await CallLoop.run(orThrow: failure) { () async throws(SecureStorageError) in
      if let key { try await SaveLock.take(key, for: operation, of: self) }
      defer { if let key { SaveLock.giveBack(key) } }
      let start = ThreadExecutor.now
      var deadline = Deadline(after: options.serviceTimeout)
      var lostSessions = 0
      var unusableSessions = 0
      var loss: SecureStorageError?
      while true {
        let call: Operation
        do throws(SecretSession.OpeningFailure) {
          let (session, answers, isNew) = try await SessionCache.shared.session(
            at: options.busAddress, asking: questions, until: deadline)
          // A diagnosis only looks, and may be the reason to choose another storage.
          if operation != .diagnose {
            try SessionCache.shared.checkKeyring(of: session, at: options.busAddress)
          }
          call = Operation(
            operation, of: self, in: session, prefetchedReplies: answers, wasUnderWay: isNew,
            until: deadline)
        } catch {
          // A provider that is gone now may have received a message earlier.
          if let loss, !error.isAnotherKeyring { throw loss }
          throw error.error(operation, of: self, since: start)
        }
        do throws(SecureStorageError) {
          // The keyring has answered if the call ends before its deadline. Only the user may be late.
          defer {
            if call.wasUnderWay, call.deadline.failure == nil {
              SessionCache.shared.endSilence(at: options.busAddress)
            }
          }
          try call.refuseUnencryptedSession()
          return try await body(call)
        } catch {
          guard error.code == .connectionLost else {
            let isSilent = call.deadline.failure != nil && !call.waitsForTurn
            throw isSilent ? error.ofSilence(of: self, since: start) : error
          }
          SessionCache.shared.forget(call.session, at: options.busAddress)
          if call.sessionIsUnusable { unusableSessions += 1 } else { lostSessions += 1 }
          guard mayRepeatWrites || !call.hasWritten, lostSessions <= 1,
            unusableSessions <= Self.mostUnusableSessions
          else { throw error }
          if call.wasUnderWay, !call.sessionIsUnusable { loss = error }
          deadline = call.deadline
        }
      }
    }
  }

  /// Returns the error of an operation for which there's no loop.
  func error(
    _ cause: DBusError, during operation: SecureStorageError.Operation
  ) -> SecureStorageError {
    SecretSession.OpeningFailure(cause).error(operation, of: self)
  }

  /// Loads libsecret and GLib, unless they're loaded.
  ///
  /// Nothing of the operation may run without them.
  ///
  /// - Throws: `.noProvider` if they aren't installed.
  func requireLibraries(
    for operation: SecureStorageError.Operation
  ) throws(SecureStorageError) {
    do throws(DBusError) {
      try LibSecret.load()
    } catch {
      throw SecretSession.OpeningFailure(connecting: error, to: options.busAddress)
        .error(operation, of: self)
    }
  }

  /// The maximum number of unusable sessions in a row that are replaced.
  private static let mostUnusableSessions = 4
}

extension SecretSession.OpeningFailure {
  /// Returns the error of an operation.
  ///
  /// - Parameters:
  ///   - operation: The operation.
  ///   - storage: The storage.
  ///   - start: The start of the operation, in microseconds of the monotonic clock, or `nil` if it has only
  ///     waited for other operations.
  /// - Returns: The error.
  func error(
    _ operation: SecureStorageError.Operation, of storage: SecretServiceStorage,
    since start: Int64? = nil
  ) -> SecureStorageError {
    let error = storage.error(
      code, during: operation, message: message, recoverySuggestion: recoverySuggestion,
      underlying: cause.underlying)
    // There is a suggestion if the bus is silent, and not the keyring.
    guard let start, recoverySuggestion == nil else { return error }
    return error.ofSilence(of: storage, since: start)
  }
}

extension SecureStorageError {
  /// Returns the error of a call that ended at its deadline, with the next step if it isn't the first in a row.
  fileprivate func ofSilence(of storage: SecretServiceStorage, since start: Int64) -> Self {
    let address = storage.options.busAddress
    guard code == .timedOut,
      let keyring = SessionCache.shared.noteSilence(at: address, since: start)
    else { return self }
    var error = self
    error.recoverySuggestion = "Restart \(keyring), which failed to answer twice in a row."
    return error
  }
}
#endif
