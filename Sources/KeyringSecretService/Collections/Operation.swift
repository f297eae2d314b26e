// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
internal import KeyringStorage

/// An operation in progress: its session, its remaining time and the errors that it throws.
final class Operation: ProviderClient {
  let session: SecretSession
  let storage: SecretServiceStorage
  /// The answers to the messages that were sent while the session was opened, if this call opened it.
  let prefetchedReplies: [Variant]?
  /// `true` after a message that changes an item.
  ///
  /// To send the message again could change something twice.
  var hasWritten = false
  /// `true` after the provider received anything, which may have opened the session.
  ///
  /// If the provider is lost after that, the effects of the messages are unknown.
  private(set) var wasUnderWay: Bool
  /// `true` for a session for which the provider has another key.
  ///
  /// Both sides then fail to decrypt the other's secrets, and all secrets are as they were.
  private(set) var sessionIsUnusable = false
  /// `true` for an operation that offers the user a default collection, even beside other collections.
  var createsCollection = false
  /// A closure that is called with `true` when the user is asked, and with `false` when that is over.
  var whenAsking: (Bool) -> Void = { _ in }
  /// A closure that is called each time that answers renew the deadline.
  var whenRenewed: () -> Void = {}
  /// A closure that receives the number of examined items, and the number of items to examine.
  var whenLooking: (Int, Int) -> Void = { _, _ in }
  /// The storage's collection, after it was looked up.
  var knownCollection: ObjectPath?
  /// `true` after the provider refused to change a locked item.
  private(set) var wasRefused = false

  /// The messages that are sent with the next ones, and before them, and what becomes of their answers.
  var companions: [(message: MethodCall, whenAnswered: (Result<Variant, DBusError>) -> Void)] = []

  let operation: SecureStorageError.Operation
  private var repetitions = 0
  private static let mostRepetitions = 3
  /// The time by which the keyring must have answered.
  ///
  /// It's later than at first if the user was asked, or if more messages were answered than are sent
  /// concurrently.
  var deadline: Deadline

  init(
    _ operation: SecureStorageError.Operation, of storage: SecretServiceStorage,
    in session: SecretSession, prefetchedReplies: [Variant]?, wasUnderWay: Bool,
    until deadline: Deadline
  ) {
    self.operation = operation
    self.session = session
    self.storage = storage
    self.prefetchedReplies = prefetchedReplies
    self.wasUnderWay = wasUnderWay
    self.deadline = deadline
  }

  /// Sends messages concurrently.
  ///
  /// - Parameters:
  ///   - messages: The messages.
  ///   - acceptingRefusals: Whether a refusal to search or to read secrets is an answer. It means that something was
  ///     deleted or is locked, and a closer look shows what.
  ///   - onFlight: A closure that receives the number of answered messages after each flight.
  /// - Returns: The answer to each message, or `nil` for a missing object.
  /// - Throws: The failure of a message.
  func send(
    _ messages: [MethodCall], acceptingRefusals: Bool,
    onFlight: (Int) -> Void = { _ in }
  ) async throws(SecureStorageError) -> [Variant?] {
    if messages.isEmpty { return [] }
    // A cancelled or late operation sends nothing more.
    try checkDeadline()
    let isClosed = session.connection.isClosed
    let companions = exchange(&companions, with: [])
    do throws(DBusError) {
      var results = try await session.connection.send(
        companions.map(\.message) + messages, to: provider.uniqueName, until: deadline
      ) { _ in
      } onFlight: { answered in
        // A large amount of work takes long, and that's no reason to give up afterwards.
        if messages.count > BusConnection.maxInFlight {
          deadline.renew()
          whenRenewed()
        }
        onFlight(answered)
      }
      for (companion, result) in zip(companions, results) { companion.whenAnswered(result) }
      results.removeFirst(companions.count)
      if !isClosed, !results.allSatisfy(\.isWithoutReceiver) { wasUnderWay = true }
      return try results.answers(to: messages, acceptingRefusals: acceptingRefusals)
    } catch {
      throw failure(error)
    }
  }

  // A step that only forwards: the requirement of a protocol can't have default arguments.
  func send(_ messages: [MethodCall]) async throws(SecureStorageError) -> [Variant?] {
    try await send(messages, acceptingRefusals: true)
  }

  /// Throws an error if the deadline has passed or the task was cancelled.
  ///
  /// Loops that always have something to do call it.
  func checkDeadline() throws(SecureStorageError) {
    if let failure = deadline.failure { throw self.failure(failure) }
  }

  /// Throws an error if the same step has to be repeated too often.
  ///
  /// A loop over items that others change all the time goes on forever, and each large step has
  /// renewed the deadline.
  func checkRepetition() throws(SecureStorageError) {
    repetitions += 1
    if repetitions > Self.mostRepetitions { deadline.forgetRenewals() }
    try checkDeadline()
  }

  /// Changes items, and repeats that if the provider refuses it because an item is locked.
  ///
  /// The item may have been locked after it was examined, or been examined without its lock. The next
  /// attempt examines it.
  ///
  /// - Parameter body: A closure that examines and changes the items.
  /// - Throws: The error of the closure.
  func repeatingRefusedChanges(
    _ body: () async throws(SecureStorageError) -> Void
  ) async throws(SecureStorageError) {
    for _ in 1...3 {
      do throws(SecureStorageError) {
        return try await body()
      } catch {
        guard error.underlying?.domain == Provider.errorOfLockedObject else { throw error }
        wasRefused = true
      }
      try checkRepetition()
    }
    return try await body()
  }

  var options: SecretServiceStorage.Options { storage.options }
  var provider: Provider { session.provider }

  func encode(_ secret: Secret) throws(SecureStorageError) -> Variant {
    if let encoded = session.encode(secret) { return encoded }
    throw failure(
      .other, "The secret can't be encrypted for the keyring.",
      recoverySuggestion: "Restart the keyring. If that doesn't help, use another one.")
  }

  // MARK: - Errors

  // Every step can fail, so what makes an error isn't inlined.

  @inline(never)
  func failure(
    _ code: SecureStorageError.Code, _ message: String? = nil, recoverySuggestion: String? = nil,
    argument: String? = nil, underlying: SecureStorageError.Underlying? = nil
  ) -> SecureStorageError {
    storage.error(
      code, during: operation, message: message,
      recoverySuggestion: recoverySuggestion
        ?? Self.withoutAsking(code).map {
          $0 + (options.interaction == .never ? ", or allow this program to show prompts." : ".")
        },
      argument: argument, underlying: underlying)
  }

  /// Returns the recovery suggestion that needs no prompt, without the end of the sentence.
  private static func withoutAsking(_ code: SecureStorageError.Code) -> String? {
    switch code {
    case .locked: "Unlock it with keyring-tool unlock, in your keyring manager or by logging in"
    case .noDefaultCollection:
      "Create one with keyring-tool unlock, or in your keyring manager as the default one"
    default: nil
    }
  }

  func unexpectedAnswer(_ text: String) -> SecureStorageError {
    failure(
      .other, "The keyring answered \(text).",
      recoverySuggestion: "Restart the keyring. If that doesn't help, use another one.")
  }

  /// Throws an error for a session without encryption, except in a storage that allows that.
  ///
  /// A diagnosis sends no secret before it has looked at the encryption.
  func refuseUnencryptedSession() throws(SecureStorageError) {
    if operation != .diagnose, !allowsSession { throw failure(.notEncrypted) }
  }

  /// `true` for a session that is encrypted, or needn't be.
  var allowsSession: Bool { session.isEncrypted || options.allowsUnencryptedSession }

  /// Returns the error for a session whose key the provider computed differently.
  func unusableSession() -> SecureStorageError {
    sessionIsUnusable = true
    return failure(.connectionLost, "The encrypted connection to the keyring doesn't work.")
  }

  @inline(never)
  func failure(_ cause: DBusError, _ message: String? = nil) -> SecureStorageError {
    let code = cause.codeWhileCalling
    if cause.refusesSession { sessionIsUnusable = true }
    if let shortage = cause.shortage { return storage.error(shortage, during: operation) }
    return failure(
      code, message ?? (code == .other ? "The keyring failed: \(cause.text)" : nil),
      underlying: cause.underlying)
  }
}

// MARK: - Answers

extension [Result<Variant, DBusError>] {
  /// Returns the answers to messages in the form that clients receive.
  ///
  /// - Parameters:
  ///   - messages: The messages.
  ///   - acceptingRefusals: Whether a refusal to search or to read secrets is an answer. It means that something was
  ///     deleted or is locked.
  /// - Returns: The answer to each message, or `nil`.
  /// - Throws: The failure of any of the messages.
  func answers(
    to messages: [MethodCall], acceptingRefusals: Bool = true
  ) throws(DBusError) -> [Variant?] {
    var answers: [Variant?] = []
    for (message, result) in zip(messages, self) {
      switch result {
      case .success(let answer): answers.append(answer)
      case .failure(let failure)
      where failure.isUnknownObject(of: message)
        || acceptingRefusals && failure.isRefusal(of: message):
        answers.append(nil)
      case .failure(let failure): throw failure
      }
    }
    return answers
  }
}
#endif
