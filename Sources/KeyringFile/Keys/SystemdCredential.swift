#if EncryptedFile
internal import KeyringStorage

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// A credential that systemd has handed to this service.
struct SystemdCredential {
  let name: String
  let place: FilePlace

  func key() throws(SecureStorageError) -> Secret {
    guard let folder = getenv("CREDENTIALS_DIRECTORY").map({ String(cString: $0) }) else {
      throw SecureStorageError(
        .keyNotFound, place, "There is no $CREDENTIALS_DIRECTORY to find “\(name)” in.",
        advice: "Have systemd start the program, with LoadCredentialEncrypted=\(name) in its unit.")
    }
    guard SecretFolder.isName(name) else {
      throw SecureStorageError(
        .invalidArgument, place, "The argument \"name\" must be the name of a credential.",
        argument: "name")
    }
    // Its permissions are systemd's business.
    guard let secret = try read(folder) else {
      throw SecureStorageError(
        .keyNotFound, place, "There is no credential “\(name)” in \(folder).",
        advice: "Write LoadCredentialEncrypted=\(name) in the unit of the service.")
    }
    return secret
  }

  private func read(_ folder: String) throws(SecureStorageError) -> Secret? {
    do throws(SecretFolder.Failure) {
      return try SecretFolder(folder).read(name)?.content
    } catch {
      throw SecureStorageError(
        error.code == .noStorage ? .keyNotFound : error.code, place, error.message,
        advice: error.advice, underlying: error.underlying)
    }
  }
}
#endif
