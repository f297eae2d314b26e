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
  /// The prefix of the name that a file has until it is whole.
  private static let temporaryPrefix = ".swift-keyring-"

  let path: String
  let place: FilePlace

  func key(_ purpose: KeySource.Purpose) throws(SecureStorageError) -> Secret {
    do throws(FileFailure) {
      if purpose == .new { try makeUnlessPresent() }
      let file = try OpenFile(path, O_RDONLY | O_NONBLOCK)
      let key = try read(file)
      if purpose != .looking { try removeSecondName(of: file.status()) }
      return key
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
    if try !makeWithoutSecondName(in: folder) { try makeWithSecondName(in: folder) }
    try folder.sync()
  }

  /// Makes the key in a file that has no name until it is whole, so that a process that is killed leaves
  /// nothing; `false` where the file system has no such files, as NFS has none, or nothing is in /proc.
  private func makeWithoutSecondName(in folder: Folder) throws(FileFailure) -> Bool {
    #if os(Linux)
    guard let file = try? OpenFile(folder.path, O_WRONLY | unnamed) else { return false }
    try writeKey(to: file)
    let source = "/proc/self/fd/\(file.descriptor)"
    return linkat(AT_FDCWD, source, AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0 || errno == EEXIST
    #else
    return false
    #endif
  }

  /// Makes the key in a file that has another name until it is whole.
  ///
  /// A process that is killed may leave that name: of a file that is no key yet, or of the key, from which
  /// whoever reads it next takes it away.
  func makeWithSecondName(in folder: Folder) throws(FileFailure) {
    let name = Self.temporaryPrefix + String(UInt64.random(in: 0 ... .max), radix: 36)
    let temporary = "\(folder.path)/\(name)"
    let file = try OpenFile(temporary, O_WRONLY | O_CREAT | O_EXCL)
    defer { unlink(temporary) }
    try writeKey(to: file)
    // A hard link, because renaming would replace what another process has made meanwhile.
    guard link(temporary, path) == 0 || errno == EEXIST else {
      throw FileFailure("cannot be made")
    }
  }

  private func writeKey(to file: OpenFile) throws(FileFailure) {
    try KeySource.newKey().withUnsafeBytes { (bytes) throws(FileFailure) in
      try file.write(bytes)
    }
    try file.sync()
  }

  /// Removes the name that a process, when it was killed, had not taken from the key yet: the key would
  /// still be there under it when somebody has deleted it.
  ///
  /// It stays where this user may not write the folder.
  private func removeSecondName(of key: stat) {
    let folder = Folder(of: path).path
    guard key.st_nlink > 1, let stream = opendir(folder) else { return }
    defer { closedir(stream) }
    while let entry = readdir(stream) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      var status = stat()
      guard name.hasPrefix(Self.temporaryPrefix), lstat("\(folder)/\(name)", &status) == 0,
        (status.st_dev, status.st_ino) == (key.st_dev, key.st_ino)
      else { continue }
      unlink("\(folder)/\(name)")
    }
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

#if canImport(Glibc)
/// The flag `O_TMPFILE` of open(2), which Swift has by this name only.
private let unnamed = __O_TMPFILE
#elseif canImport(Musl)
private let unnamed = O_TMPFILE
#endif
#endif
