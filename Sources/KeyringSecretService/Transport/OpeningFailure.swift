#if SecretService && os(Linux)
internal import KeyringStorage

extension SecretSession {
  /// The cause of a failure to open a session, and the error code that it stands for.
  struct OpeningFailure: Error {
    let code: SecureStorageError.Code
    let cause: DBusError
    private(set) var message: String?
    private(set) var recoverySuggestion: String?

    /// Creates a failure from a cause that means the same at every step.
    init(_ cause: DBusError) {
      code = cause.codeWhileCalling
      self.cause = cause
    }

    /// Creates a failure to connect to the bus.
    ///
    /// It also stands for a bus that doesn't answer. In both cases the keyring isn't at fault.
    init(connecting cause: DBusError) {
      code = cause.codeWhileConnecting
      self.cause = cause
      switch code {
      case .connectionLost:
        message = "The session bus accepted the connection, and closed it."
        recoverySuggestion =
          "Check the log of the bus, which may have reached its connection limit, and try again."
      case .timedOut:
        message = "The session bus didn't answer in time."
        recoverySuggestion = "Check that the bus isn't hanging, and try again."
      default: break
      }
    }

    /// Creates a failure to find the provider, to start it or to open a session with it.
    ///
    /// dbus-broker reports the same error for a name that no program provides and for a name whose program
    /// it couldn't start. Only the list of activatable names distinguishes the two.
    init(
      opening cause: DBusError, on connection: BusConnection, until deadline: Deadline
    ) async {
      self.cause = cause
      guard cause.codeWhileOpening == .noProvider else {
        code = cause.codeWhileOpening
        return
      }
      do throws(DBusError) {
        let answer = try await connection.send(
          [.activatableNames()], to: nil, until: deadline)[0]
        let names = try answer.get().child(0).children.map(\.text)
        code = names.contains(MethodCall.secrets) ? .providerFailed : .noProvider
      } catch {
        // The list can't be read, so it's unknown which of the two it is.
        code = error.codeWhileCalling
      }
    }
  }
}
#endif
