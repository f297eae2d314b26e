// SPDX-License-Identifier: Apache-2.0

internal import KeyringPlatform

/// A directory whose files are replaced.
package struct Directory: Sendable {
  /// The path of the directory.
  package let path: String

  /// Creates a value for the directory of a file.
  ///
  /// - Parameter path: The path of the file.
  package init(of path: String) {
    let slash = path.lastIndex(of: "/")
    self.path =
      switch slash {
      case nil: "."
      case path.startIndex: "/"
      case let slash?: String(path[..<slash])
      }
  }

  /// The prefix of the name that a file has until it's complete.
  package static let temporaryPrefix = ".swift-keyring-"

  /// Returns a path in the directory for a file that isn't complete yet.
  ///
  /// - Returns: The path, which no other file has.
  package func temporaryPath() -> String {
    "\(path)/\(Self.temporaryPrefix)\(String.randomToken())"
  }

  /// The directory itself, or else the nearest ancestor that exists.
  package var nearestExisting: Directory {
    if access(path, F_OK) == 0 || errno != ENOENT || path == "/" || path == "." { return self }
    return Directory(of: path).nearestExisting
  }

  /// Whether the path is a symbolic link, which may lead to another directory at any time.
  package var isLink: Bool {
    var status = stat()
    return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
  }

  /// Whether the effective user can replace files in the directory.
  ///
  /// The user must also be able to read it, to wait for the disk.
  package var isWritable: Bool { faccessat(AT_FDCWD, path, R_OK | W_OK | X_OK, AT_EACCESS) == 0 }

  /// Creates a missing directory.
  ///
  /// The directory that it's in must exist: a file system may be missing there. In the user's home, all
  /// missing ones are created.
  ///
  /// Only the owner has access to the new directories. They are on the disk when the method returns.
  ///
  /// - Throws: The failure to create a directory.
  package func make() throws(FileFailure) {
    // These two have no outer directory. The caller's own use of the directory reports why it can't be reached.
    if access(path, F_OK) == 0 || path == "/" || path == "." { return }
    let outer = Directory(of: path)
    if let obstacle { throw obstacle }
    try outer.make()
    guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
      throw FileFailure("has no directory, and it can't be created")
    }
    try outer.sync()
  }

  /// The reason for ``make()`` to refuse the directory, if any.
  package var obstacle: FileFailure? {
    let (outer, existing) = (Directory(of: path), nearestExisting.path)
    if existing == path || existing == outer.path || outer.isInHome { return nil }
    return FileFailure("is in a directory that doesn't exist: \(outer.path)", number: ENOENT)
  }

  private var isInHome: Bool {
    guard let home = EnvironmentVariable.path("HOME"), home != "/" else { return false }
    return access(home, F_OK) == 0 && path.hasPrefix(home.hasSuffix("/") ? home : home + "/")
  }

  /// Waits for the directory to be on the disk, so that a file renamed in it keeps its new name.
  ///
  /// - Throws: The failure to write the directory to the disk.
  package func sync() throws(FileFailure) {
    do throws(FileFailure) {
      try OpenFile.directory(path).sync()
    } catch {
      // Some file systems can't do this, and report EINVAL.
      if error.number == EINVAL { return }
      throw FileFailure("may not be on the disk yet", number: error.number)
    }
  }
}
