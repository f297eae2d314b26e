#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// The file in which a choice is remembered: at every moment there is none, or a whole one.
struct ChoiceFile {
  /// In bytes; what is longer is none of ours.
  private static let largest = 4096

  let path: String

  /// What is in the file; `nil` when there is none, an empty text when it is no text.
  func text() throws(FileFailure) -> String? {
    let file: OpenFile
    do throws(FileFailure) {
      // Not to wait for a writer, should it be a pipe.
      file = try OpenFile(path, O_RDONLY | O_NONBLOCK)
    } catch {
      if error.number == ENOENT || error.number == ENOTDIR { return nil }
      throw error
    }
    var bytes = [UInt8](repeating: 0, count: Self.largest)
    let result = bytes.withUnsafeMutableBytes { buffer in
      Result { () throws(FileFailure) in try file.read(into: buffer) }
    }
    let count = try result.get()
    return count < bytes.count ? String(validating: bytes[..<count], as: UTF8.self) ?? "" : ""
  }

  /// Writes the file, with the folders it is in.
  ///
  /// - Returns: Whether it was written; not where there is one that is not to be replaced.
  func write(_ text: String, replacing: Bool) throws(FileFailure) -> Bool {
    let folder = Folder(of: path)
    try folder.make()
    let name = ".swift-keyring-" + String(UInt64.random(in: 0 ... .max), radix: 36)
    let result = Array(text.utf8).withUnsafeBytes { content in
      Result { () throws(FileFailure) in
        try FileReplacement(of: path, through: "\(folder.path)/\(name)", with: content)
      }
    }
    let replacement = try result.get()
    if replacing {
      try replacement.commit()
    } else if try !replacement.commitUnlessThere() {
      return false
    }
    try folder.sync()
    return true
  }

  /// Removes the file, if there is one.
  func remove() throws(FileFailure) {
    if unlink(path) == 0 { return try Folder(of: path).sync() }
    guard errno == ENOENT || errno == ENOTDIR else { throw FileFailure("cannot be removed") }
  }

  /// Why it could not be written, if that can be seen without trying.
  func obstacle() -> FileFailure? {
    var folder = Folder(of: path)
    // The innermost that is there is where the first of the others would be made.
    while access(folder.path, F_OK) != 0, errno == ENOENT, folder.path != "/", folder.path != "." {
      folder = Folder(of: folder.path)
    }
    return access(folder.path, W_OK | X_OK) == 0 ? nil : FileFailure("cannot be written")
  }
}

/// The folder in which a user's programs keep what they have to remember.
enum StateFolder {
  /// The path of a program's file; `nil` where the user has no such folder.
  ///
  /// - Parameters:
  ///   - variable: The environment.
  ///   - name: The name of the program.
  /// - Returns: The path.
  static func path(in variable: (String) -> String?, named name: String) -> String? {
    // A path that is not absolute is to be ignored, says the specification.
    let own = variable("XDG_STATE_HOME").flatMap { $0.hasPrefix("/") ? $0 : nil }
    guard let folder = own ?? home(variable).map({ $0 + "/.local/state" }) else { return nil }
    let file = String(name.map { $0 == "/" || $0 == "\0" ? "-" : $0 })
    return "\(folder)/swift-keyring/\(file).choice"
  }

  /// The home, when it is this user's.
  ///
  /// sudo may hand on another's, where a file of root would be in the way. Users without a home have one
  /// that is not there, or the root of all.
  private static func home(_ variable: (String) -> String?) -> String? {
    guard let home = variable("HOME"), home.hasPrefix("/"), home != "/" else { return nil }
    var status = stat()
    return stat(home, &status) == 0 && status.st_uid == geteuid() ? home : nil
  }
}
