#if SecretService && os(Linux)
internal import KeyringStorage

/// One operation under way: the session it uses, the time it has left, the errors it throws.
final class Call: ProviderClient {
  let session: SecretSession
  let storage: SecretServiceStorage
  /// The answers to what was asked while the session was being opened, if it was for this call.
  let answersAtOpening: [Variant]?
  /// Whether something was sent that changes an item, so that it must not simply be sent again.
  var hasWritten = false
  /// Whether the provider was sent anything, so that losing it then leaves open what it has done.
  private(set) var wasUnderWay = false
  /// Whether the provider has another key for the session, so that neither side can decrypt the other's
  /// secrets. Nothing was changed then.
  private(set) var sessionIsUnusable = false
  /// Called when a person is asked, and when that is over.
  var whenAsking: (Bool) -> Void = { _ in }
  /// Called with the number of items that were looked at, and of those that are to be.
  var whenLooking: (Int, Int) -> Void = { _, _ in }
  /// The storage's collection, once it was looked up.
  var knownCollection: ObjectPath?

  let operation: SecureStorageError.Operation
  private var repetitions = 0
  private static let mostRepetitions = 3
  /// When the keyring must have answered; later than at first once a person was asked, or more messages
  /// were answered than travel side by side.
  private(set) var deadline: Deadline

  init(
    _ operation: SecureStorageError.Operation, of storage: SecretServiceStorage,
    in session: SecretSession, answersAtOpening: [Variant]?, until deadline: Deadline
  ) {
    self.operation = operation
    self.session = session
    self.storage = storage
    self.answersAtOpening = answersAtOpening
    self.deadline = deadline
  }

  /// Sends messages side by side.
  ///
  /// - Parameters:
  ///   - messages: The messages.
  ///   - acceptingRefusals: Whether a refusal to search or to read secrets is an answer: something is
  ///     gone or locked, and a closer look tells what.
  ///   - onFlight: Called with the number of messages that were answered, after each flight.
  /// - Returns: For each message its answer, or `nil` when its object does not exist (any more).
  /// - Throws: The failure of any of them.
  func send(
    _ messages: [Message], acceptingRefusals: Bool,
    onFlight: (Int) -> Void = { _ in }
  ) async throws(SecureStorageError) -> [Variant?] {
    if messages.isEmpty { return [] }
    // What is cancelled, or late, sends nothing any more.
    try checkDeadline()
    let results: [Result<Variant, BusFailure>]
    let isClosed = session.isClosed
    do throws(BusFailure) {
      results = try await session.send(messages, until: deadline, onFlight: onFlight)
    } catch {
      throw failure(error)
    }
    // What took long because it is much is no reason to give up afterwards.
    if messages.count > BusConnection.flight { deadline.renew() }
    if !isClosed, !results.allSatisfy(\.isWithoutReceiver) { wasUnderWay = true }
    do throws(BusFailure) {
      return try results.answers(to: messages, acceptingRefusals: acceptingRefusals)
    } catch {
      throw failure(error)
    }
  }

  func send(_ messages: [Message]) async throws(SecureStorageError) -> [Variant?] {
    try await send(messages, acceptingRefusals: true)
  }

  /// Throws once the deadline has passed or the task was cancelled; for loops that have always
  /// something to do.
  func checkDeadline() throws(SecureStorageError) {
    if let failure = deadline.failure { throw self.failure(failure) }
  }

  /// Throws when the same has to be done again too often: what others change all the time doesn't end by
  /// itself, and each large step has renewed the deadline.
  func checkRepetition() throws(SecureStorageError) {
    repetitions += 1
    if repetitions > Self.mostRepetitions { deadline.forgetRenewals() }
    try checkDeadline()
  }

  /// Leaves out of the time for the keyring's answers what a person has taken.
  func addToDeadline(_ pause: Deadline.Pause) { deadline.add(pause) }

  /// Shows a prompt and waits for the user's answer, if asking is allowed at all.
  ///
  /// - Parameter prompt: The prompt that a method has answered with.
  /// - Returns: The result that the method would have given without a prompt.
  /// - Throws: `.locked` when nobody may be asked, `.userCanceled` when the user declined.
  func answer(to prompt: ObjectPath) async throws(SecureStorageError) -> Variant {
    if let result = try await answer(toExisting: prompt) { return result }
    throw unexpectedAnswer("a prompt that does not exist")
  }

  /// Does the same, and returns `nil` when the prompt does not exist (any more).
  func answer(toExisting prompt: ObjectPath) async throws(SecureStorageError) -> Variant? {
    guard options.interaction == .allowed else {
      throw failure(
        .locked, "The keyring needs to ask the user, and this storage must not let it.")
    }
    let nobodyWasAsked: Bool
    do throws(BusFailure) {
      let outcome = try await asking { () async throws(BusFailure) in
        try await session.show(prompt, until: Deadline(after: options.promptTimeout))
      }
      switch outcome {
      case .completed(let result): return result
      case .dismissed: nobodyWasAsked = try await session.lacksPrompter(until: deadline)
      case nil: return nil
      }
    } catch {
      throw questionFailure(error)
    }
    if nobodyWasAsked {
      throw failure(
        .locked, "The keyring needs to ask the user, and no program shows its question.",
        advice: Self.withoutPrompter)
    }
    throw failure(.userCanceled)
  }

  /// The error where the answer to a question was waited for in vain.
  func questionFailure(_ cause: BusFailure) -> SecureStorageError {
    let isLate = cause.codeWhileCalling == .timedOut
    return failure(cause, isLate ? "The keyring's question was not answered in time." : nil)
  }

  /// Runs something that takes a person's time, which doesn't count.
  func asking<Result>(
    _ body: () async throws(BusFailure) -> Result
  ) async throws(BusFailure) -> Result {
    whenAsking(true)
    defer { whenAsking(false) }
    return try await deadline.pausing(body)
  }

  var options: SecretServiceStorage.Options { storage.options }
  var provider: Provider { session.provider }

  // MARK: - Errors

  func failure(
    _ code: SecureStorageError.Code, _ message: String? = nil, advice: String? = nil
  ) -> SecureStorageError {
    SecureStorageError(
      code, operation: operation, backend: storage.backendName, message: message,
      advice: advice ?? (options.interaction == .allowed ? Self.withoutAsking[code] : nil))
  }

  /// What helps where the keyring may ask already.
  private static let withoutAsking: [SecureStorageError.Code: String] = [
    .locked: "Unlock it in your keyring manager or by logging in.",
    .noDefaultCollection: "Create one in your keyring manager and make it the default.",
  ]

  /// What helps where it may, and nobody shows the question.
  static let withoutPrompter = """
    Unlock it in your keyring manager or by logging in, or install what shows its questions: gcr.
    """

  /// The same where there is nothing to unlock.
  static let withoutPrompterOrDefault = """
    Create one in your keyring manager and make it the default, or install what shows the keyring's \
    questions: gcr.
    """

  func unexpectedAnswer(_ text: String) -> SecureStorageError {
    failure(.backend, "The keyring answered with \(text).")
  }

  /// Returns the error for a session whose key the provider has computed differently.
  func unusableSession() -> SecureStorageError {
    sessionIsUnusable = true
    return failure(.connectionLost, "The keyring's secrets are not encrypted for this session.")
  }

  private func failure(_ failure: BusFailure, _ message: String? = nil) -> SecureStorageError {
    let code = failure.codeWhileCalling
    if failure.refusesSession { sessionIsUnusable = true }
    return SecureStorageError(
      code, operation: operation, backend: storage.backendName,
      message: message ?? (code == .backend ? "The keyring failed: \(failure.text)" : nil),
      advice: options.interaction == .allowed ? Self.withoutAsking[code] : nil,
      underlying: failure.underlying)
  }
}

extension Result<Variant, BusFailure> {
  fileprivate var isWithoutReceiver: Bool {
    if case .failure(let failure) = self { failure.isWithoutReceiver } else { false }
  }
}
#endif
