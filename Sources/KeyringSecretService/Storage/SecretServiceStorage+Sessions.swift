// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
internal import KeyringStorage

extension SecretServiceStorage {
  /// Runs an operation in the open session, and again in a new one if that session is lost or unusable.
  ///
  /// A lost session is replaced once, so that a message that makes its provider crash isn't sent to each of
  /// its successors. An unusable session has changed nothing, and is replaced several times.
  ///
  /// - Parameters:
  ///   - operation: The operation that errors name.
  ///   - mayRepeatWrites: A Boolean value that indicates whether the operation may run again after it has
  ///     changed something.
  ///   - questions: A closure that returns the messages to send while a session is opened, if necessary.
  ///   - body: The operation.
  /// - Returns: The result of the operation.
  /// - Throws: The error of the operation, or the reason for the missing session.
  func perform<Result>(
    _ operation: SecureStorageError.Operation,
    mayRepeatWrites: Bool = true,
    prefetching questions: () -> [MethodCall] = { [] },
    _ body: (Operation) async throws(SecureStorageError) -> Result
  ) async throws(SecureStorageError) -> Result {
    var deadline = Deadline(after: options.serviceTimeout)
    var lostSessions = 0
    var unusableSessions = 0
    var loss: SecureStorageError?
    while true {
      let call: Operation
      do throws(SecureStorageError) {
        call = try await self.call(operation, questions, until: deadline)
      } catch {
        // A provider that is gone now may have received a message earlier.
        throw loss ?? error
      }
      do throws(SecureStorageError) {
        return try await body(call)
      } catch {
        guard error.code == .connectionLost else { throw error }
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

  /// The maximum number of unusable sessions in a row that are replaced.
  private static let mostUnusableSessions = 4

  private func call(
    _ operation: SecureStorageError.Operation, _ questions: () -> [MethodCall],
    until deadline: Deadline
  ) async throws(SecureStorageError) -> Operation {
    do throws(SecretSession.OpeningFailure) {
      let (session, answers) = try await SessionCache.shared.session(
        at: options.busAddress, asking: questions, until: deadline)
      return Operation(
        operation, of: self, in: session, prefetchedReplies: answers, until: deadline)
    } catch {
      throw error.error(operation, of: self)
    }
  }
}

extension SecretSession.OpeningFailure {
  func error(
    _ operation: SecureStorageError.Operation, of storage: SecretServiceStorage
  ) -> SecureStorageError {
    SecureStorageError(
      code, operation: operation, backendName: storage.backendName, message: message,
      recoverySuggestion: recoverySuggestion, underlying: cause.underlying)
  }
}
#endif
