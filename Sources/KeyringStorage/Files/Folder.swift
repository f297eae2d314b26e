#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// A folder of files that are replaced.
package struct Folder: Sendable {
  /// Its path.
  package let path: String

  /// The folder that a file is in.
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

  /// Makes the folder, and those that it is in, for their owner only, if it is not there; then it is on
  /// the disk.
  ///
  /// - Throws: The system's error.
  package func make() throws(FileFailure) {
    if access(path, F_OK) == 0 { return }
    let outer = Folder(of: path)
    try outer.make()
    guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
      throw FileFailure("has no folder, and it cannot be made")
    }
    try outer.sync()
  }

  /// Waits until the folder is on the disk, so that what was renamed in it stays so.
  ///
  /// - Throws: The system's error.
  package func sync() throws(FileFailure) {
    do throws(FileFailure) {
      try OpenFile(path, O_RDONLY | O_DIRECTORY).sync()
    } catch {
      // Some file systems cannot, and say so.
      if error.number == EINVAL { return }
      throw FileFailure("may not be on the disk yet", number: error.number)
    }
  }
}
