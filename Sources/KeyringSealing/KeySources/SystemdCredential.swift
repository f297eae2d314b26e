// SPDX-License-Identifier: Apache-2.0

#if Sealing
internal import KeyringRuntime
internal import KeyringStorage

extension KeySource {
  /// Creates a source from a credential that systemd passes to the service.
  ///
  /// The unit of the service declares it with `LoadCredentialEncrypted=NAME`. See
  /// [systemd.exec(5)](https://www.freedesktop.org/software/systemd/man/systemd.exec.html), section
  /// "Credentials". The credential is in the directory `$CREDENTIALS_DIRECTORY`.
  ///
  /// - Parameter name: The name of the credential. It must have at least 32 bytes, all of which are the
  ///   key.
  /// - Returns: The source.
  public static func systemdCredential(_ name: String) -> KeySource {
    KeySource(.systemdCredential) { (request) async throws(SecureStorageError) in
      try SystemdCredential(name: name, request: request).key()
    }
  }
}

/// A credential that systemd has passed to this service.
private struct SystemdCredential {
  let name: String
  let request: KeyRequest

  func key() throws(SecureStorageError) -> Secret {
    guard let directory = EnvironmentVariable.text("CREDENTIALS_DIRECTORY") else {
      throw request.error(
        .keyNotFound,
        EnvironmentVariable.isOfCaller
          ? "A program with more rights than its caller doesn't read $CREDENTIALS_DIRECTORY."
          : "The credential \"\(name)\" can't be found, because $CREDENTIALS_DIRECTORY isn't set.",
        recoverySuggestion:
          "Start the program with systemd, and set LoadCredentialEncrypted=\(name) in its unit.")
    }
    guard SecretsDirectory.isName(name) else {
      throw request.error(
        .invalidArgument, "The argument \"name\" must be the name of a credential.",
        argument: "name")
    }
    // Its permissions aren't checked, because systemd sets them.
    guard let secret = try read(directory) else {
      throw request.error(
        .keyNotFound, "There is no credential \"\(name)\" in \(directory).",
        recoverySuggestion: "Set LoadCredentialEncrypted=\(name) in the unit of the service.")
    }
    return secret
  }

  private func read(_ path: String) throws(SecureStorageError) -> Secret? {
    let translate = { failure(path, $0) }
    return try SecretsDirectory.read(path, failing: translate) {
      (directory) throws(SecureStorageError) in
      do throws(FileFailure) {
        return try directory.read(name, atMost: ItemLimits.secretBytes)?.content
      } catch {
        throw request.error(
          error.code, "The credential \"\(name)\" in \(path) \(error.problem).",
          underlying: error.underlying)
      }
    }
  }

  private func failure(_ path: String, _ failure: FileFailure) -> SecureStorageError {
    request.error(
      failure.isMissing || failure.hasNoDirectory ? .keyNotFound : failure.code,
      "The directory \(path) \(failure.problem).", underlying: failure.underlying)
  }
}
#endif
