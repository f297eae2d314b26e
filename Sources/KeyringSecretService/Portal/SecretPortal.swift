// SPDX-License-Identifier: Apache-2.0

#if SecretService && Sealing && os(Linux)
internal import KeyringRuntime
internal import KeyringSealing

/// A request for the secret that the Secret portal has for this app.
///
/// Each request has a connection of its own. The portal ends the request when the connection is closed.
///
/// See the documentation of the
/// [Secret portal](https://flatpak.github.io/xdg-desktop-portal/docs/doc-org.freedesktop.portal.Secret.html).
struct SecretPortal {
  private enum Outcome {
    case secret(Secret, token: String?)
    case declined
    /// The portal has no secret, or can't unlock it.
    case failed(UInt32)
    /// There is a portal, which isn't to ask anyone.
    case silent
    case missing
  }

  let request: KeyRequest
  /// The file with the token of the last request, which the portal may need to find the secret again.
  let tokenFile: String?
  let options: SecretServiceStorage.Options

  func key() async throws(SecureStorageError) -> Secret {
    if let secret = try await secret() { return secret }
    // Another process has kept the token of another secret in the meantime.
    if let secret = try await secret() { return secret }
    throw request.error(
      .other, "The Secret portal's token couldn't be saved in \(tokenFile ?? "").")
  }

  /// Returns the secret, or `nil` if there is a newer token than the one that was sent.
  private func secret() async throws(SecureStorageError) -> Secret? {
    let token = try token()
    switch try await outcome(token) {
    case .secret(let secret, let new):
      guard let new, new != token else { return secret }
      return try keep(new, replacing: token != nil) ? secret : nil
    case .declined:
      throw request.error(.userCanceled, "The user declined the Secret portal's prompt.")
    case .failed(let response):
      throw request.error(
        .locked, "The Secret portal gave no key for the \(request.subject).",
        recoverySuggestion:
          "Unlock the user's keyring. If it's unlocked, read the log of the portal.",
        underlying: .init(
          domain: "org.freedesktop.portal.Request", code: Int(response), text: "Response"))
    case .missing: throw missing(nil)
    case .silent:
      throw request.error(
        .locked, "The Secret portal wasn't asked for the key of the \(request.subject).")
    }
  }

  // MARK: - The request

  private func outcome(_ token: String?) async throws(SecureStorageError) -> Outcome {
    var connection: BusConnection?
    do throws(DBusError) {
      try LibSecret.load()
      return try await CallLoop.run(orThrow: \.self) { () async throws(DBusError) in
        let deadline = Deadline(after: options.serviceTimeout)
        let opened = try await BusConnection.open(address: options.busAddress, until: deadline)
        connection = opened
        let portal = try await owner(on: opened, until: deadline)
        if request.purpose != .inspection {
          return try await ask(portal, token, on: opened, until: deadline)
        }
        let message = MethodCall.secretPortalVersion(from: portal)
        let version = try await opened.send([message], to: nil, until: deadline)[0]
        // A portal without the interface says that the argument is invalid.
        if case .failure(let failure) = version, failure.isInvalidArgument { return .missing }
        _ = try version.get()
        return .silent
      }
    } catch {
      throw failure(error, isConnected: connection != nil)
    }
  }

  /// Returns the unique name of the portal, which the bus may have to start.
  ///
  /// Any program can send signals in the name of another one to a connection that knows only that name.
  private func owner(
    on connection: BusConnection, until deadline: Deadline
  ) async throws(DBusError) -> String {
    let start = try await connection.send([.start(MethodCall.portal)], to: nil, until: deadline)[0]
    let owner = try await connection.send([.owner(of: MethodCall.portal)], to: nil, until: deadline)
    do throws(DBusError) {
      return try owner[0].get().child(0).text
    } catch {
      _ = try start.get()
      throw error
    }
  }

  private func ask(
    _ portal: String, _ token: String?, on connection: BusConnection, until deadline: Deadline
  ) async throws(DBusError) -> Outcome {
    let pipe = try SecretPipe()
    let handle = "swift_keyring_" + .randomToken()
    var arguments: [String: Variant] = ["handle_token": .string(handle)]
    arguments["token"] = token.map { .string($0) }
    let message = MethodCall.retrieveSecret(from: portal, arguments)
    let response = try await ThreadExecutor.waitingForUser { () async throws(DBusError) in
      try await connection.arguments(
        of: .response(token: handle, to: connection.uniqueName, from: portal),
        until: Deadline(after: options.longestOperation)
      ) { () async throws(DBusError) in
        _ = try await pipe.send(message, over: connection, until: deadline)
        return true
      }
    }
    guard let response, response.isOfType("(ua{sv})") else { return .failed(2) }
    switch response.child(0).number {
    case 0:
      return .secret(
        try await pipe.secret(until: Deadline(after: options.serviceTimeout)),
        token: response.child(1).member("token", ofType: "s")?.text)
    case 1: return .declined
    case let other: return .failed(other)
    }
  }

  private func failure(_ cause: DBusError, isConnected: Bool) -> SecureStorageError {
    if !isConnected {
      let opening = SecretSession.OpeningFailure(connecting: cause, to: options.busAddress)
      return request.error(
        opening.code, opening.message, recoverySuggestion: opening.recoverySuggestion,
        underlying: cause.underlying)
    }
    if cause.isWithoutReceiver || cause.isWithoutInterface { return missing(cause) }
    return request.error(
      cause.codeWhileCalling, "The Secret portal gave no key for the \(request.subject).",
      recoverySuggestion: "Read the log of the desktop's portal, or restart it.",
      underlying: cause.underlying)
  }

  private func missing(_ cause: DBusError?) -> SecureStorageError {
    request.error(
      .keyNotFound, "The desktop has no Secret portal for the key of the \(request.subject).",
      recoverySuggestion: """
        Install xdg-desktop-portal, and a keyring that provides org.freedesktop.impl.portal.Secret.
        """, underlying: cause?.underlying)
  }

  // MARK: - The token

  private func token() throws(SecureStorageError) -> String? {
    guard let tokenFile else { return nil }
    let token: String?
    do throws(FileFailure) {
      token = try StateFile(path: tokenFile).text()
    } catch {
      throw failure(error, tokenFile)
    }
    // With another token or none, the portal might give another secret.
    if token?.isEmpty != true { return token }
    throw request.error(
      .damaged, "The file \(tokenFile) doesn't contain the Secret portal's token.",
      recoverySuggestion: "Restore it from a backup.")
  }

  /// Keeps a token, without which the portal might give another secret next time.
  ///
  /// - Returns: `false` if there is a token that must stay.
  private func keep(
    _ token: String, replacing: Bool
  ) throws(SecureStorageError) -> Bool {
    guard let tokenFile else {
      throw request.error(
        .noStorage, "The Secret portal's token can't be saved.",
        recoverySuggestion: "Pass the path of a file for it.", argument: "tokenFile")
    }
    do throws(FileFailure) {
      return try StateFile(path: tokenFile).write(token, replacing: replacing)
    } catch {
      throw failure(error, tokenFile)
    }
  }

  private func failure(_ cause: FileFailure, _ path: String) -> SecureStorageError {
    request.error(
      cause.code, "The file \(path), which has the Secret portal's token, \(cause.problem).",
      recoverySuggestion: "Let this user read and write it.", underlying: cause.underlying)
  }
}

extension DBusError {
  /// `true` for an interface that the receiver lacks.
  fileprivate var isWithoutInterface: Bool {
    [
      "org.freedesktop.DBus.Error.UnknownInterface", "org.freedesktop.DBus.Error.UnknownMethod",
    ].contains(remoteName)
  }
}
#endif
