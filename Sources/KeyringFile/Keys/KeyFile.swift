#if EncryptedFile
internal import KeyringStorage

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// A file that is a key.
struct KeyFile {
  /// The largest that is read, in bytes.
  static let largest = 64 << 10

  let path: String
  let place: FilePlace

  func key(_ purpose: KeySource.Purpose) throws(SecureStorageError) -> Secret {
    do throws(FileFailure) {
      if purpose == .new { try makeUnlessPresent() }
      return try read(OpenFile(path, O_RDONLY | O_NONBLOCK))
    } catch {
      throw failure(error)
    }
  }

  private func read(_ file: OpenFile) throws(FileFailure) -> Secret {
    let status = try file.status()
    guard status.st_uid == geteuid() || status.st_uid == 0 else {
      throw FileFailure("belongs to another user", number: EPERM)
    }
    guard status.st_mode & 0o077 == 0 else {
      throw FileFailure("can be read by others", number: EPERM)
    }
    return try content(of: file)
  }

  private func content(of file: OpenFile) throws(FileFailure) -> Secret {
    let status = try file.status()
    guard status.st_mode & S_IFMT == S_IFREG, status.st_size <= Self.largest else {
      throw FileFailure("is no key", number: EINVAL)
    }
    return try Secret(capacity: Int(status.st_size)) { (room) throws(FileFailure) in
      try file.read(into: room)
    }
  }

  /// Makes the key, whole or not at all: of two processes that do so at once, one succeeds.
  private func makeUnlessPresent() throws(FileFailure) {
    if access(path, F_OK) == 0 { return }
    let folder = Folder(of: path)
    try folder.make()
    let name = ".swift-keyring-" + String(UInt64.random(in: 0 ... .max), radix: 36)
    let temporary = "\(folder.path)/\(name)"
    let file = try OpenFile(temporary, O_WRONLY | O_CREAT | O_EXCL)
    defer { unlink(temporary) }
    try KeySource.newKey().withUnsafeBytes { (bytes) throws(FileFailure) in
      try file.write(bytes)
    }
    try file.sync()
    // A hard link, because renaming would replace what another process has made meanwhile.
    guard link(temporary, path) == 0 || errno == EEXIST else {
      throw FileFailure("cannot be made")
    }
    try folder.sync()
  }

  private func failure(_ cause: FileFailure) -> SecureStorageError {
    let code = cause.number == ENOENT ? .keyNotFound : cause.code
    return SecureStorageError(
      code, place, "The key file \(path) \(cause.problem).",
      advice: code == .accessDenied
        ? "It must be this program's user's, and nobody else may read it: chmod 600." : nil,
      underlying: cause.underlying)
  }
}
#endif
