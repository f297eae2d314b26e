// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
internal import KeyringRuntime
internal import KeyringStorage

extension SecretServiceStorage {
  /// Runs an operation in the open session, and again in a new one if that session is lost or unusable.
  ///
  /// A lost session is replaced once, so that a message that makes its provider crash isn't sent to each of
  /// its successors. An unusable session has left everything as it was, and is replaced several times.
  ///
  /// - Parameters:
  ///   - operation: The operation that errors name.
  ///   - key: The key for which no other task of the process runs such an operation meanwhile, or `nil`.
  ///   - mayRepeatWrites: `true` for an operation that may run again after a change.
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
    var result: Result?
    try await run(operation, lockedOn: key, mayRepeatWrites, questions) {
      (call) async throws(SecureStorageError) in
      result = try await body(call)
    }
    guard let result else { preconditionFailure("an operation ends with a result") }
    return result
  }

  /// Runs an operation that keeps its result itself.
  ///
  /// It isn't generic or inlined, so that a program has this code once, and not for each operation.
  @inline(never)
  @concurrent private func run(
    _ operation: SecureStorageError.Operation, lockedOn key: ItemKey?, _ mayRepeatWrites: Bool,
    _ questions: () -> [MethodCall], _ body: (Operation) async throws(SecureStorageError) -> Void
  ) async throws(SecureStorageError) {
    let start = KeyringEvent.Start()
    let failure = { error($0, during: operation) }
    do throws(SecureStorageError) {
      try await CallLoop.run(orThrow: failure) { () async throws(SecureStorageError) in
        if let key { try await waitToSave(key, for: operation) }
        defer { if let key { Self.saves.leave(key) } }
        try await performInSession(operation, mayRepeatWrites, questions, body)
      }
      KeyringEvent.report(.operationSucceeded(operation, backend: backendName, since: start))
    } catch {
      KeyringEvent.report(.operationFailed(error, since: start))
      throw error
    }
  }

  private func performInSession(
    _ operation: SecureStorageError.Operation, _ mayRepeatWrites: Bool,
    _ questions: () -> [MethodCall], _ body: (Operation) async throws(SecureStorageError) -> Void
  ) async throws(SecureStorageError) {
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
          throw call.deadline.failure != nil ? error.ofSilence(of: self, since: start) : error
        }
        SessionCache.shared.forget(call.session, at: options.busAddress)
        if call.sessionIsUnusable { unusableSessions += 1 } else { lostSessions += 1 }
        guard mayRepeatWrites || !call.hasWritten, lostSessions <= 1,
          unusableSessions <= Self.mostUnusableSessions
        else { throw error }
        KeyringEvent.report(.operationRepeated(after: error))
        if call.wasUnderWay, !call.sessionIsUnusable { loss = error }
        deadline = call.deadline
      }
    }
  }

  /// Returns the error of an operation that lacks a loop.
  func error(
    _ cause: DBusError, during operation: SecureStorageError.Operation
  ) -> SecureStorageError {
    SecretSession.OpeningFailure(cause).error(operation, of: self)
  }

  /// Loads libsecret and GLib, unless they're loaded.
  ///
  /// The whole operation needs them.
  ///
  /// - Throws: `.noProvider` for missing libraries.
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
  /// Returns the error of a call that ended at its deadline, with the next step from the second in a row on.
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
