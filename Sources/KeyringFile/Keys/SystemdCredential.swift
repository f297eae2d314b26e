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
    guard !name.isEmpty, !name.utf8.contains(UInt8(ascii: "/")), name != "..", name != "." else {
      throw SecureStorageError(
        .invalidArgument, place, "The argument \"name\" must be the name of a credential.",
        argument: "name")
    }
    return try KeyFile(path: "\(folder)/\(name)", place: place).credential()
  }
}
#endif
