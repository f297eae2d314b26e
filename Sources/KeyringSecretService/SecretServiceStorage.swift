#if SecretService && os(Linux)
public import KeyringStorage

/// The user's keyring: items in the freedesktop Secret Service, through libsecret.
///
/// The Secret Service is provided by gnome-keyring, KWallet, KeePassXC and others; this storage
/// works with whichever the desktop session runs. Only secrets are encrypted by it: the attributes
/// that name an item, and its label, are not.
///
/// Any number of threads may use any number of these storages at once; all of a process share one
/// connection to the bus, which is opened when first needed, and anew after the bus or the provider
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
  ///   - mode: What to do when an item with that key is there already, or is not.
  /// - Throws: What kept it from being stored; `.locked` and `.userCanceled` leave the old item.
  public func save(_ item: SecureItem, _ mode: SaveMode) throws(SecureStorageError) {
    try validate(item)
    try withLock(on: item.key, .save) { () throws(SecureStorageError) in
      try noting(item.key) { () throws(SecureStorageError) in
        try perform(.save, mayRepeatWrites: mode != .add) { (call) throws(SecureStorageError) in
          try call.save(item, mode)
        }
      }
    }
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
    return try perform(.read) { (call) throws(SecureStorageError) in
      try call.items(matching: query)
    }
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
  /// - Throws: What finding any of them alone throws.
  public func items(
    for keys: [ItemKey], details: ItemQuery.Details
  ) throws(SecureStorageError) -> [ItemKey: SecureItem] {
    for key in keys { try validate(.key(key, details: details), for: .read) }
    let keys = Array(Set(keys))
    if keys.isEmpty { return [:] }
    let questions = { options.collection.searches(for: keys) }
    return try perform(.read, askingAtOpening: questions) { (call) throws(SecureStorageError) in
      try call.items(for: keys, details)
    }
  }

  /// Removes what ``items(matching:)`` finds.
  ///
  /// - Parameter query: Which items.
  /// - Returns: How many items were removed.
  /// - Throws: What kept them from being removed.
  @discardableResult
  public func removeItems(matching query: ItemQuery) throws(SecureStorageError) -> Int {
    try validate(query, for: .remove)
    return try noting(query.key) { () throws(SecureStorageError) in try remove(query) }
  }

  private func remove(_ query: ItemQuery) throws(SecureStorageError) -> Int {
    var selected: [[StoredItem]]?
    try perform(.remove) { (call) throws(SecureStorageError) in
      // A second try must not take what comes next where the first has removed something before its
      // session was lost.
      let items =
        if let selected { try call.remaining(selected) } else {
          try call.itemsToRemove(matching: query)
        }
      selected = selected ?? items
      try call.remove(items)
    }
    return selected?.count ?? 0
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
  /// - Returns: What was found out.
  public func diagnose(writing: Bool) -> StorageDiagnosis {
    var examination = SecretServiceExamination(self)
    examination.run(writing: writing)
    return examination.diagnosis
  }

  /// Locks the collection, for every program.
  ///
  /// - Throws: What kept it from being locked; `.backend` when the keyring says that it has done so, and
  ///   the collection is unlocked still. gnome-keyring does that with the collection for the session.
  public func lock() throws(SecureStorageError) {
    try noting(nil) { () throws(SecureStorageError) in
      try perform(.lock) { (call) throws(SecureStorageError) in
        try call.lock(call.lockableCollection())
      }
    }
  }

  /// Unlocks the collection, for every program; the keyring asks the user for its password.
  ///
  /// - Throws: `.locked` when nobody may be asked, `.userCanceled` when the user declined.
  public func unlock() throws(SecureStorageError) {
    try perform(.unlock) { (call) throws(SecureStorageError) in
      let collection = try call.lockableCollection()
      if try call.isLocked(collection) { try call.unlock([collection]) }
    }
  }

  /// Tells whether the collection is locked.
  ///
  /// - Returns: Whether it is.
  /// - Throws: Any reason for not knowing the answer.
  public func isLocked() throws(SecureStorageError) -> Bool {
    try perform(.read) { (call) throws(SecureStorageError) in
      try call.isLocked(call.existingCollection())
    }
  }
}

extension SecretServiceStorage {
  /// Runs something while no other thread of the process does so for the same key.
  func withLock<Result>(
    on key: ItemKey, _ operation: SecureStorageError.Operation,
    _ body: () throws(SecureStorageError) -> Result
  ) throws(SecureStorageError) -> Result {
    func failure(_ cause: BusFailure) -> SecureStorageError {
      let code = cause.codeWhileCalling
      return SecureStorageError(
        code, operation: operation, backend: backendName,
        message: code == .timedOut ? "Another thread was saving the same item all the time." : nil)
    }
    let deadline = Deadline(after: options.longestOperation)
    return try KeyLocks.shared.withLock(key, until: deadline, failing: failure, body)
  }

  /// Runs one operation in the open session, and once more in a new one if that was lost.
  ///
  /// - Parameters:
  ///   - operation: Which one.
  ///   - mayRepeatWrites: Whether what has changed something may run once more.
  ///   - questions: Messages to send while a session is being opened, if one has to be.
  ///   - body: The operation.
  /// - Returns: What the operation returned.
  /// - Throws: What it threw, or why there is no session.
  func perform<Result>(
    _ operation: SecureStorageError.Operation,
    mayRepeatWrites: Bool = true,
    askingAtOpening questions: () -> [Message] = { [] },
    _ body: (Call) throws(SecureStorageError) -> Result
  ) throws(SecureStorageError) -> Result {
    let first = try call(operation, questions, until: Deadline(after: options.serviceTimeout))
    let loss: SecureStorageError
    do throws(SecureStorageError) {
      return try body(first)
    } catch {
      guard error.code == .connectionLost else { throw error }
      loss = error
    }
    SessionPool.shared.forget(first.session, at: options.busAddress)
    guard mayRepeatWrites || !first.hasWritten else { throw loss }
    let second: Call
    do throws(SecureStorageError) {
      second = try call(operation, questions, until: first.deadline)
    } catch {
      // That nobody is there now does not tell what became of a message that somebody was sent.
      throw first.wasUnderWay ? loss : error
    }
    return try body(second)
  }

  private func call(
    _ operation: SecureStorageError.Operation, _ questions: () -> [Message],
    until deadline: Deadline
  ) throws(SecureStorageError) -> Call {
    do throws(SecretSession.OpeningFailure) {
      let (session, answers) = try SessionPool.shared.session(
        at: options.busAddress, asking: questions, until: deadline)
      return Call(
        operation, of: self, in: session, answersAtOpening: answers, until: deadline)
    } catch {
      throw error.error(operation, of: self)
    }
  }
}
#endif
