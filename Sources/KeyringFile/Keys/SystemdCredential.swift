#if EncryptedFile
internal import KeyringStorage

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// A credential that systemd has passed to this service.
struct SystemdCredential {
  let name: String
  let place: FileLocation

  func key() throws(SecureStorageError) -> Secret {
    guard let folder = getenv("CREDENTIALS_DIRECTORY").map({ String(cString: $0) }) else {
      throw SecureStorageError(
        .keyNotFound, place,
        "The credential “\(name)” can't be found, because $CREDENTIALS_DIRECTORY isn't set.",
        recoverySuggestion:
          "Start the program with systemd, and set LoadCredentialEncrypted=\(name) in its unit.")
    }
    guard SecretsDirectory.isName(name) else {
      throw SecureStorageError(
        .invalidArgument, place, "The argument \"name\" must be the name of a credential.",
        argument: "name")
    }
    // Its permissions aren't checked, because systemd sets them.
    guard let secret = try read(folder) else {
      throw SecureStorageError(
        .keyNotFound, place, "There is no credential “\(name)” in \(folder).",
        recoverySuggestion: "Set LoadCredentialEncrypted=\(name) in the unit of the service.")
    }
    return secret
  }

  private func read(_ folder: String) throws(SecureStorageError) -> Secret? {
    do throws(SecretsDirectory.Failure) {
      return try SecretsDirectory(folder).read(name)?.content
    } catch {
      throw SecureStorageError(
        error.code == .noStorage ? .keyNotFound : error.code, place, error.message,
        recoverySuggestion: error.recoverySuggestion, underlying: error.underlying)
    }
  }
}
#endif
