// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
internal import KeyringRuntime

extension SecretSession {
  /// The cause of a failure to open a session, and the error code that it stands for.
  final class OpeningFailure: Error {
    let code: SecureStorageError.Code
    let cause: DBusError
    let message: String?
    let recoverySuggestion: String?
    /// `true` for a keyring that has taken the place of another one.
    ///
    /// The caller has to hear of that, because the new keyring lacks the items of the last one.
    let isAnotherKeyring: Bool

    // Not inlined: each place that can fail would contain its code.
    @inline(never)
    private init(
      _ code: SecureStorageError.Code, _ cause: DBusError, _ message: String? = nil,
      recoverySuggestion: String? = nil, isAnotherKeyring: Bool = false
    ) {
      (self.code, self.cause) = (code, cause)
      self.message = message ?? cause.shortage?.message
      self.recoverySuggestion = recoverySuggestion ?? cause.shortage?.recoverySuggestion
      self.isAnotherKeyring = isAnotherKeyring
    }

    /// Creates a failure because another keyring has taken the place of the one that the program has used.
    convenience init(_ last: Provider, isFollowedBy provider: Provider) {
      let cause = DBusError(
        domain: "swift-keyring", code: 0, text: "the provider is now \(provider.uniqueName)")
      self.init(
        .noProvider, cause,
        "The keyring was \(last.keyringName). It ended, and now it's \(provider.keyringName).",
        recoverySuggestion:
          "Items of the one aren't in the other. Start the right one, or try again to use the new one.",
        isAnotherKeyring: true)
    }

    /// Creates a failure from a cause that means the same at every step.
    convenience init(_ cause: DBusError) { self.init(cause.codeWhileCalling, cause) }

    /// Creates a failure to connect to the bus.
    ///
    /// It also stands for a silent bus and for a missing library, which are no fault of the keyring.
    ///
    /// - Parameters:
    ///   - cause: The failure.
    ///   - address: The address of the bus, or `nil` for the session bus.
    convenience init(connecting cause: DBusError, to address: String?) {
      let code = cause.codeWhileConnecting
      // Without GLib, there is no address either.
      let bus =
        code == .noSessionBus ? address.map { BusAddress(text: $0) } ?? (try? .ofSession()) : nil
      switch code {
      case .noProvider:
        self.init(
          code, cause, "libsecret isn't installed, and the program needs it for the keyring.",
          recoverySuggestion:
            "Install the package libsecret-1-0 on Debian, Ubuntu and openSUSE, or else libsecret.")
      case .other where cause.isOfMissingLibrary == false:
        self.init(
          code, cause, "The program can't load libsecret.",
          recoverySuggestion: "Install libsecret again, with the libraries that it needs.")
      case .noSessionBus where bus?.foreignOwner != nil:
        self.init(
          code, cause,
          "The session bus at \"\(bus?.text.excerpt ?? "")\" belongs to user \(bus?.foreignOwner ?? 0).",
          recoverySuggestion:
            "Run the program as that user, for example without sudo, or use another storage.")
      case .noSessionBus where cause.refusesUser:
        self.init(
          code, cause, "The session bus refused the user of this program.",
          recoverySuggestion:
            "Run the program as the user of the bus, and not in a user namespace with other IDs.")
      case .connectionLost:
        self.init(
          code, cause, "The session bus accepted the connection, and closed it.",
          recoverySuggestion:
            "Read the log of the bus. If it's at its connection limit, end programs that use it.")
      case .timedOut:
        self.init(
          code, cause, "The session bus didn't answer in time.",
          recoverySuggestion: "Restart the bus if it hangs: log out, and log in.")
      case .notEncrypted:
        self.init(
          code, cause, "The address of the session bus is a network connection without encryption.",
          recoverySuggestion:
            "Use the address of a socket, which ssh can forward from another machine.")
      case .noSessionBus:
        let suggestion = address == nil ? BusAddress.suggestion(insteadOf: bus) : nil
        self.init(
          code, cause,
          bus.map { "No D-Bus session bus can be reached at \"\($0.text.excerpt)\"." }
            ?? suggestion.map { _ in "The program isn't told where the session bus is." },
          recoverySuggestion: suggestion)
      default: self.init(code, cause)
      }
    }

    /// Creates a failure to find the provider, to start it or to open a session with it.
    ///
    /// Some buses report the same error for a name that no program provides and for a name whose program
    /// they failed to start. Only the list of activatable names distinguishes the two.
    convenience init(
      opening cause: DBusError, on connection: BusConnection, until deadline: Deadline
    ) async {
      if let (message, recoverySuggestion) = Provider.plugin(missingIn: cause.text) {
        self.init(.providerFailed, cause, message, recoverySuggestion: recoverySuggestion)
        return
      }
      let code = cause.codeWhileOpening
      guard code == .noProvider else {
        self.init(code, cause)
        return
      }
      do throws(DBusError) {
        let names = try await connection.startableNames(until: deadline)
        if names.contains(MethodCall.secrets) {
          self.init(.providerFailed, cause)
        } else if names.isDisjoint(with: Provider.otherStartableNames) {
          self.init(.noProvider, cause)
        } else {
          self.init(
            .providerFailed, cause, Provider.messageOfUnstartableProvider,
            recoverySuggestion: Provider.suggestionForUnstartableProvider)
        }
      } catch {
        // The list can't be read, so it's unknown which of them it is.
        self.init(error.codeWhileCalling, cause)
      }
    }
  }
}

extension SharedOutcome<SecretSession.OpeningFailure?> {
  /// Waits until another task has opened what this one needs, or has failed.
  ///
  /// - Parameter deadline: The deadline of the wait.
  /// - Throws: The failure, or that of the wait.
  func check(until deadline: Deadline) async throws(SecretSession.OpeningFailure) {
    if let failure = await wait(until: deadline.end).failure { throw .init(failure) }
    if case .some(let failure?) = value { throw failure }
  }
}
#endif
