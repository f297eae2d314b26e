#if SecretService && os(Linux)
internal import KeyringStorage

extension SecretSession {
  /// Why no session could be opened, and what that means.
  struct OpeningFailure: Error {
    let code: SecureStorageError.Code
    let cause: BusFailure
    private var message: String?
    private var advice: String?

    /// For a failure that means the same whatever was being opened.
    init(_ cause: BusFailure) {
      code = cause.codeWhileCalling
      self.cause = cause
    }

    /// For one to connect to the bus, or of a bus that says nothing: the keyring is not at fault.
    init(connecting cause: BusFailure) {
      code = cause.codeWhileConnecting
      self.cause = cause
      switch code {
      case .connectionLost:
        message = "The session bus took the connection, and closed it."
        advice = "Look at its log: the limit of its connections may be reached. Then try again."
      case .timedOut:
        message = "The session bus did not answer in time."
        advice = "Check that the bus is not hanging, and try again."
      default: break
      }
    }

    /// For one to find the provider, to start it or to open a session with it.
    ///
    /// dbus-broker says the same of a name that nobody provides and of one whose program it could not
    /// start: only the list of the names it could start somebody for tells the two apart.
    init(
      opening cause: BusFailure, on connection: BusConnection, until deadline: Deadline
    ) async {
      self.cause = cause
      guard cause.codeWhileOpening == .noProvider else {
        code = cause.codeWhileOpening
        return
      }
      do throws(BusFailure) {
        let answer = try await connection.send(
          [.activatableNames()], to: nil, until: deadline)[0]
        let names = try answer.get().child(0).children.map(\.text)
        code = names.contains(Message.secrets) ? .providerFailed : .noProvider
      } catch {
        // Nobody knows.
        code = error.codeWhileCalling
      }
    }

    func error(
      _ operation: SecureStorageError.Operation, of storage: SecretServiceStorage
    ) -> SecureStorageError {
      SecureStorageError(
        code, operation: operation, backend: storage.backendName, message: message,
        advice: advice, underlying: cause.underlying)
    }
  }
}
#endif
