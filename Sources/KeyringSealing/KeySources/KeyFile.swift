// SPDX-License-Identifier: Apache-2.0

#if Sealing
internal import KeyringRuntime
internal import KeyringStorage

internal import KeyringPlatform

extension KeySource {
  /// Creates a source from a file whose whole content is the key.
  ///
  /// ```swift
  /// let storage = EncryptedFileStorage(
  ///   at: "/var/lib/example/secrets", key: .keyFile(at: "/media/key/example"))
  /// ```
  ///
  /// The first encryption creates a missing file. It gets 32 random bytes, and only its owner can read it.
  /// The file must belong to this program's user or to root. A file that others can read or write is refused. On
  /// Linux, an access control list may let this user in.
  ///
  /// Anyone who has both the key file and the encrypted items has the secrets. Keep the key file elsewhere:
  /// on another disk, and in another backup.
  ///
  /// - Parameter path: The path of the file. It must have at least 32 bytes, all of which are the key.
  /// - Returns: The source.
  public static func keyFile(at path: String) -> KeySource {
    KeySource(.keyFile, createsKey: true) { (request) async throws(SecureStorageError) in
      try KeyFile(path: path, request: request).key()
    }.protected(by: .keyFile)
  }
}

/// A file that contains a key, or a key that something else has encrypted.
struct KeyFile {
  /// The largest size of a key file that is read, in bytes.
  static let largest = 64 << 10

  let path: String
  let request: KeyRequest
  /// `true` for a file that others must not be able to read.
  var isSecret = true
  /// The content of a new file.
  var newContent: () -> Secret = Secret.randomKey

  func key() throws(SecureStorageError) -> Secret {
    do throws(FileFailure) {
      if request.purpose == .creation { try makeUnlessPresent() }
      guard let file = try OpenFile.reading(path) else {
        throw FileFailure("doesn't exist", number: ENOENT)
      }
      let key = try read(file)
      if request.purpose != .inspection { try removeSecondName(of: file.status()) }
      return key
    } catch {
      throw failure(error)
    }
  }

  private func read(_ file: OpenFile) throws(FileFailure) -> Secret {
    let status = try file.regularStatus(atMost: Self.largest)
    guard status.st_uid == geteuid() || status.st_uid == 0 else {
      throw FileFailure("belongs to another user", number: EPERM)
    }
    if isSecret, try !file.isPrivate() {
      throw FileFailure("can be read by others", number: EPERM)
    }
    return try file.secret(atMost: Self.largest)
  }

  /// Creates the key, completely or not at all.
  ///
  /// Of two processes that do this at the same time, one creates the key, and both use it.
  private func makeUnlessPresent() throws(FileFailure) {
    let directory = Directory(of: path)
    if access(path, F_OK) == 0 {
      // The process that has created the file may have been killed before its name was on the disk. Someone else may
      // have created it in a directory that this user can't read.
      try? directory.sync()
      return
    }
    try directory.make()
    try make()
    try directory.sync()
  }

  /// Creates the key in a file that first has another name.
  ///
  /// A process that is killed may leave that name behind, either on an incomplete file or on the key. The
  /// next process that reads the key removes the name from it.
  func make() throws(FileFailure) {
    do throws(FileFailure) {
      let file = try newContent().withUnsafeBytes { (bytes) throws(FileFailure) in
        try FileReplacement(of: path, with: bytes)
      }
      _ = try file.commitUnlessThere()
    } catch {
      throw FileFailure("can't be created", number: error.number)
    }
  }

  /// Removes the temporary name of the key that a killed process left behind.
  ///
  /// Under that name, the key would survive its deletion. The name stays in a directory that this user can't read or
  /// write. The key can be used nevertheless.
  private func removeSecondName(of key: stat) {
    let directory = Directory(of: path).path
    guard key.st_nlink > 1, let names = try? OpenFile.directory(directory).names()
    else { return }
    for name in names where name.hasPrefix(Directory.temporaryPrefix) {
      var status = stat()
      if lstat("\(directory)/\(name)", &status) == 0,
        (status.st_dev, status.st_ino) == (key.st_dev, key.st_ino)
      {
        unlink("\(directory)/\(name)")
      }
    }
  }

  private func failure(_ cause: FileFailure) -> SecureStorageError {
    let directory = Directory(of: path)
    if cause.isMissing, request.purpose == .inspection,
      directory.obstacle != nil || !directory.nearestExisting.isWritable
    {
      return request.error(
        .keyNotFound, "The key file \(path) doesn't exist, and this user can't create it.",
        underlying: FileFailure("", number: EACCES).underlying)
    }
    let code = cause.isMissing ? .keyNotFound : cause.code
    let advice =
      access(path, F_OK) == 0
      ? "It must belong to the program's user, and be readable only by that user: chmod 600."
      : "Give the program's user access to the directory that the file is in."
    return request.error(
      code, "The key file \(path) \(cause.problem).",
      recoverySuggestion: code == .accessDenied
        ? advice : cause.kind == .unsuitable ? "Use the path of a key file." : nil,
      underlying: cause.underlying)
  }
}
#endif
