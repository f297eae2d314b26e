#if SecretService && os(Linux)
public import KeyringStorage

/// The user's keyring: items in the freedesktop Secret Service, through libsecret.
///
/// The Secret Service is provided by gnome-keyring, KWallet, KeePassXC and others; this storage
/// works with whichever the desktop session runs. Only secrets are encrypted by it: the attributes
/// that name an item, and its label, are not.
///
/// Any number of threads may use any number of these storages at once; all of a process share one
/// connection to the bus, which is opened when first needed, and again after the bus or the provider
/// was restarted.
///
/// ```swift
/// let storage = SecretServiceStorage(collection: .session, interaction: .never)
/// ```
///
/// See the [Secret Service API](https://specifications.freedesktop.org/secret-service-spec/latest/).
public struct SecretServiceStorage: LockableStorage {
  /// Where the items are, whether the user may be asked, and how long to wait.
  public let options: Options

  /// Makes a storage; nothing is sent before it is used.
  ///
  /// - Parameter options: Where the items are, whether the user may be asked, how long to wait.
  public init(options: Options) {
    self.options = options
  }

  /// Makes a storage; nothing is sent before it is used.
  ///
  /// - Parameters:
  ///   - collection: Where the items are.
  ///   - interaction: Whether the keyring may ask the user.
  public init(collection: Collection = .default, interaction: Interaction = .allowed) {
    self.init(options: Options(collection: collection, interaction: interaction))
  }

  /// Stores an item under its key.
  ///
  /// - Parameters:
  ///   - item: The key and what to store under it.
  ///   - mode: The save mode.
  /// - Throws: What kept it from being stored; `.locked` and `.userCanceled` leave the old item.
  public func save(_ item: SecureItem, _ mode: SaveMode) throws(SecureStorageError) {
    try validate(item)
    defer { noteWrite(of: item.key) }
    try CallLoop.runToEnd { () async throws(SecureStorageError) in try await store(item, mode) }
  }

  /// Finds items, newest first.
  ///
  /// A login and its password are always of one pair. A label or another attribute is read just
  /// before the secret, which may have been replaced in between.
  ///
  /// - Parameter query: Which items, and what of them.
  /// - Returns: The items found, those of other programs too.
  /// - Throws: Any reason for not knowing the answer; `.ambiguous` when a key fits several items of
  ///   other programs and none of this package's.
  public func items(matching query: ItemQuery) throws(SecureStorageError) -> [SecureItem] {
    try validate(query, for: .read)
    return try CallLoop.runToEnd { () async throws(SecureStorageError) in try await find(query) }
  }

  /// Finds the item stored under a key; in one step where it was read or written before.
  ///
  /// - Parameters:
  ///   - key: The key to look for.
  ///   - details: What of the item to fetch.
  /// - Returns: The item, or `nil` when there is none.
  /// - Throws: Any reason for not knowing the answer; `.ambiguous` when the key fits several items
  ///   of other programs and none of this package's.
  public func item(
    for key: ItemKey, details: ItemQuery.Details
  ) throws(SecureStorageError) -> SecureItem? {
    try items(for: [key], details: details)[key]
  }

  /// Finds the items stored under keys, with as many waits as for one.
  ///
  /// - Parameters:
  ///   - keys: The keys to look for.
  ///   - details: What of the items to fetch.
  /// - Returns: The items found, by their keys.
  /// - Throws: The errors of finding one of them.
  public func items(
    for keys: [ItemKey], details: ItemQuery.Details
  ) throws(SecureStorageError) -> [ItemKey: SecureItem] {
    for key in keys { try validate(.key(key, details: details), for: .read) }
    let keys = Array(Set(keys))
    if keys.isEmpty { return [:] }
    return try CallLoop.runToEnd { () async throws(SecureStorageError) in
      try await find(keys, details)
    }
  }

  /// Removes what ``items(matching:)`` finds.
  ///
  /// - Parameter query: Which items.
  /// - Returns: The number of items that were removed.
  /// - Throws: What kept them from being removed.
  @discardableResult
  public func removeItems(matching query: ItemQuery) throws(SecureStorageError) -> Int {
    try validate(query, for: .remove)
    defer { noteWrite(of: query.key) }
    return try CallLoop.runToEnd { () async throws(SecureStorageError) in try await remove(query) }
  }

  /// Finds out whether the keyring works here: the sandbox, the session bus, who provides the service,
  /// how secrets travel, whether the collection is there and unlocked, and whether it can be searched.
  ///
  /// The user is asked nothing. A keyring that does not run is started, as by any other use. It takes
  /// ``Options/serviceTimeout`` at most, and as long again for each of the three operations of `writing`.
  /// A keyring that does not answer until then is a `.timedOut` among the findings, beside who it is;
  /// to find that out takes a second more at most. Whether an item can be made is seen only by `writing`.
  ///
  /// - Parameter writing: Whether an item is stored in the collection, read and removed again, where
  ///   that takes no question to the user.
  /// - Returns: The findings.
  public func diagnose(writing: Bool) -> StorageDiagnosis {
    var examination = CallLoop.runToEnd { await examined() }
    if writing { examination.addWriting() }
    return examination.diagnosis
  }

  /// Locks the collection, for every program.
  ///
  /// - Throws: What kept it from being locked; `.backend` when the keyring says that it has done so, and
  ///   the collection is unlocked still. gnome-keyring does that with the collection for the session.
  public func lock() throws(SecureStorageError) {
    defer { noteWrite(of: nil) }
    try CallLoop.runToEnd(lockCollection)
  }

  /// Unlocks the collection, for every program; the keyring asks the user for its password.
  ///
  /// - Throws: `.locked` when nobody may be asked, `.userCanceled` when the user declined.
  public func unlock() throws(SecureStorageError) {
    try CallLoop.runToEnd(unlockCollection)
  }

  /// Tells whether the collection is locked.
  ///
  /// - Returns: `true` if it is.
  /// - Throws: `SecureStorageError` if the storage can't be read.
  public func isLocked() throws(SecureStorageError) -> Bool {
    try CallLoop.runToEnd(isCollectionLocked)
  }
}

// MARK: - Without blocking

extension SecretServiceStorage {
  /// Stores an item under its key; a thread of the library's own waits for the keyring, for all calls.
  public func saveWithoutBlocking(
    _ item: SecureItem, _ mode: SaveMode
  ) async throws(SecureStorageError) {
    try validate(item)
    defer { noteWrite(of: item.key) }
    try await CallLoop.run { () async throws(SecureStorageError) in try await store(item, mode) }
  }

  /// Finds items, newest first; a thread of the library's own waits for the keyring, for all calls.
  public nonisolated(nonsending) func itemsWithoutBlocking(
    matching query: ItemQuery
  ) async throws(SecureStorageError) -> [SecureItem] {
    try validate(query, for: .read)
    if let key = query.key, query.asksForKeyOnly, query.unlocks {
      return try await itemsWithoutBlocking(for: [key], details: query.details).map(\.value)
    }
    return try await CallLoop.run { () async throws(SecureStorageError) in try await find(query) }
  }

  /// Finds the items stored under keys; a thread of the library's own waits for the keyring, for all calls.
  ///
  /// Reads that are asked for while others are under way travel together.
  ///
  /// - Parameters:
  ///   - keys: The keys to look for.
  ///   - details: What of the items to fetch.
  /// - Returns: The items found, by their keys.
  /// - Throws: The errors of finding one of them.
  public nonisolated(nonsending) func itemsWithoutBlocking(
    for keys: [ItemKey], details: ItemQuery.Details
  ) async throws(SecureStorageError) -> [ItemKey: SecureItem] {
    for key in keys { try validate(.key(key, details: details), for: .read) }
    let keys = Array(Set(keys))
    if keys.isEmpty { return [:] }
    if ThreadExecutor.current?.isSynchronous != true {
      return try await ReadQueue.shared.items(for: keys, details, in: self)
    }
    return try { () throws(SecureStorageError) in try items(for: keys, details: details) }()
  }

  /// Removes items for good; a thread of the library's own waits for the keyring, for all calls.
  public func removeItemsWithoutBlocking(
    matching query: ItemQuery
  ) async throws(SecureStorageError) -> Int {
    try validate(query, for: .remove)
    defer { noteWrite(of: query.key) }
    return try await CallLoop.run { () async throws(SecureStorageError) in try await remove(query) }
  }

  /// Finds out whether the keyring works here; a thread of the library's own waits for the keyring.
  public func diagnoseWithoutBlocking(
    writing: Bool
  ) async throws(SecureStorageError) -> StorageDiagnosis {
    let examination = await CallLoop.run { await examined() }
    // That the calls were cancelled says nothing about the storage.
    try checkCancellation(.diagnose)
    guard writing else { return examination.diagnosis }
    let diagnosis = try await blocking(.diagnose) { () throws(SecureStorageError) in
      var examination = examination
      examination.addWriting()
      return examination.diagnosis
    }
    try checkCancellation(.diagnose)
    return diagnosis
  }

  /// Locks the collection, for every program; a thread of the library's own waits for the keyring.
  public func lockWithoutBlocking() async throws(SecureStorageError) {
    defer { noteWrite(of: nil) }
    try await CallLoop.run(lockCollection)
  }

  /// Unlocks the collection, for every program; a thread of the library's own waits for the user.
  public func unlockWithoutBlocking() async throws(SecureStorageError) {
    try await CallLoop.run(unlockCollection)
  }

  /// Returns whether the collection is locked; a thread of the library's own waits for the keyring.
  public func isLockedWithoutBlocking() async throws(SecureStorageError) -> Bool {
    try await CallLoop.run(isCollectionLocked)
  }
}

// MARK: - The operations, each written once

extension SecretServiceStorage {
  fileprivate func store(_ item: SecureItem, _ mode: SaveMode) async throws(SecureStorageError) {
    try await withLock(on: item.key, .save) { () async throws(SecureStorageError) in
      try await perform(.save, mayRepeatWrites: mode != .add) {
        (call) async throws(SecureStorageError) in
        try await call.save(item, mode)
      }
    }
  }

  fileprivate func find(_ query: ItemQuery) async throws(SecureStorageError) -> [SecureItem] {
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
  ///   - keys: The keys, each once.
  ///   - details: What of the items to fetch.
  ///   - whenAsking: Called when a person is asked, and when that is over.
  /// - Returns: The items found, by their keys.
  /// - Throws: `SecureStorageError` if one of the items can't be read, or may be hidden.
  func find(
    _ keys: [ItemKey], _ details: ItemQuery.Details, whenAsking: @escaping (Bool) -> Void = { _ in }
  ) async throws(SecureStorageError) -> [ItemKey: SecureItem] {
    let questions = { options.collection.searches(for: keys) }
    return try await perform(.read, askingAtOpening: questions) {
      (call) async throws(SecureStorageError) in
      call.whenAsking = whenAsking
      return try await call.items(for: keys, details)
    }
  }

  fileprivate func remove(_ query: ItemQuery) async throws(SecureStorageError) -> Int {
    var selected: [[StoredItem]]?
    try await perform(.remove) { (call) async throws(SecureStorageError) in
      // A second try must not take what comes next where the first has removed something before its
      // session was lost.
      let items =
        if let selected { try await call.remaining(selected) } else {
          try await call.itemsToRemove(matching: query)
        }
      selected = selected ?? items
      try await call.remove(items)
    }
    return selected?.count ?? 0
  }
}

extension SecretServiceStorage {
  private func lockCollection() async throws(SecureStorageError) {
    try await perform(.lock) { (call) async throws(SecureStorageError) in
      try await call.lock(call.lockableCollection())
    }
  }

  private func unlockCollection() async throws(SecureStorageError) {
    try await perform(.unlock) { (call) async throws(SecureStorageError) in
      let collection = try await call.lockableCollection()
      if try await call.isLocked(collection) { try await call.unlock([collection]) }
    }
  }

  private func isCollectionLocked() async throws(SecureStorageError) -> Bool {
    try await perform(.read) { (call) async throws(SecureStorageError) in
      try await call.isLocked(call.existingCollection())
    }
  }

  private func examined() async -> SecretServiceExamination {
    var examination = SecretServiceExamination(self)
    await examination.run()
    return examination
  }

  /// Tells those in this process who observe, before an operation returns, that it may have changed an item.
  ///
  /// That is told of a write that failed, too: it may have taken place.
  func noteWrite(of key: ItemKey?) { ChangeReporter.noteWrite(of: key, at: options.busAddress) }
}

extension SecretServiceStorage {
  /// Keeps two calls from saving under the same key at the same time.
  ///
  /// The Secret Service has no "create if absent": between the search that finds nothing and the
  /// creation, another call's item would go unnoticed.
  private static let locks = KeyedLocks<ItemKey>()

  /// Runs something while no other task of the process does so for the same key.
  func withLock<Result>(
    on key: ItemKey, _ operation: SecureStorageError.Operation,
    _ body: () async throws(SecureStorageError) -> Result
  ) async throws(SecureStorageError) -> Result {
    func failure(_ reason: Waiter.Outcome) -> SecureStorageError {
      SecureStorageError(
        reason == .timedOut ? .timedOut : .canceled, operation: operation, backend: backendName,
        message: reason == .timedOut ? "Another thread was saving the same item all the time." : nil
      )
    }
    return try await Self.locks.withLock(
      key, until: .now(plus: options.longestOperation), failing: failure, body)
  }

  /// Runs one operation in the open session, and again in a new one if that session is lost or unusable.
  ///
  /// A session that is lost is replaced once: a message that makes its provider crash is not sent to each
  /// of its successors. An unusable one has changed nothing, and is replaced several times.
  ///
  /// - Parameters:
  ///   - operation: The operation that errors name.
  ///   - mayRepeatWrites: Whether the operation may run again after it has changed something.
  ///   - questions: Messages to send while a session is being opened, if one has to be.
  ///   - body: The operation.
  /// - Returns: The result of the operation.
  /// - Throws: The error of the operation, or the reason why there is no session.
  func perform<Result>(
    _ operation: SecureStorageError.Operation,
    mayRepeatWrites: Bool = true,
    askingAtOpening questions: () -> [Message] = { [] },
    _ body: (Call) async throws(SecureStorageError) -> Result
  ) async throws(SecureStorageError) -> Result {
    var deadline = Deadline(after: options.serviceTimeout)
    var lostSessions = 0
    var unusableSessions = 0
    var loss: SecureStorageError?
    while true {
      let call: Call
      do throws(SecureStorageError) {
        call = try await self.call(operation, questions, until: deadline)
      } catch {
        // A provider that is gone now may have received a message before.
        throw loss ?? error
      }
      do throws(SecureStorageError) {
        return try await body(call)
      } catch {
        guard error.code == .connectionLost else { throw error }
        SessionPool.shared.forget(call.session, at: options.busAddress)
        if call.sessionIsUnusable { unusableSessions += 1 } else { lostSessions += 1 }
        guard mayRepeatWrites || !call.hasWritten, lostSessions <= 1,
          unusableSessions <= Self.mostUnusableSessions
        else { throw error }
        if call.wasUnderWay, !call.sessionIsUnusable { loss = error }
        deadline = call.deadline
      }
    }
  }

  /// The number of unusable sessions in a row that are replaced.
  private static let mostUnusableSessions = 4

  private func call(
    _ operation: SecureStorageError.Operation, _ questions: () -> [Message],
    until deadline: Deadline
  ) async throws(SecureStorageError) -> Call {
    do throws(SecretSession.OpeningFailure) {
      let (session, answers) = try await SessionPool.shared.session(
        at: options.busAddress, asking: questions, until: deadline)
      return Call(
        operation, of: self, in: session, answersAtOpening: answers, until: deadline)
    } catch {
      throw error.error(operation, of: self)
    }
  }
}
#endif
