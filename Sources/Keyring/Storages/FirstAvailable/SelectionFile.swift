internal import KeyringLibc
internal import KeyringStorage

/// The file in which a selection is remembered.
///
/// At every moment there is either no file or a complete one.
struct SelectionFile {
  /// The size limit in bytes.
  ///
  /// This library doesn't write longer files.
  private static let largest = 4096

  let path: String

  /// Returns the text of the file, or `nil` if there is no file.
  ///
  /// The text is empty if the file is too long or isn't valid UTF-8.
  func text() throws(FileFailure) -> String? {
    do throws(FileFailure) {
      guard let file = try OpenFile.reading(path) else { return nil }
      return try file.secret(atMost: Self.largest).text ?? ""
    } catch {
      if error.isMissing || error.hasNoDirectory { return nil }
      if error.kind != .system { return "" }
      throw error
    }
  }

  /// Writes the file, and creates the folders that it's in.
  ///
  /// - Returns: `true` if the file was written. `false` if there is one that must not be replaced.
  func write(_ text: String, replacing: Bool) throws(FileFailure) -> Bool {
    let folder = Directory(of: path)
    try folder.make()
    let name = ".swift-keyring-" + .randomToken()
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
    if unlink(path) == 0 { return try Directory(of: path).sync() }
    guard errno == ENOENT || errno == ENOTDIR else { throw FileFailure("can't be removed") }
  }

  /// Returns the reason why the file can't be written, if it's known without trying.
  func obstacle() -> FileFailure? {
    var folder = Directory(of: path)
    // The innermost folder that exists is the one in which the first missing folder would be created.
    while access(folder.path, F_OK) != 0, errno == ENOENT, folder.path != "/", folder.path != "." {
      folder = Directory(of: folder.path)
    }
    return access(folder.path, W_OK | X_OK) == 0 ? nil : FileFailure("can't be written")
  }
}

/// The folder in which a user's programs keep their state.
enum StateFolder {
  /// Returns the path of a program's file, or `nil` if the user has no folder for it.
  ///
  /// - Parameters:
  ///   - variable: A closure that returns the value of an environment variable.
  ///   - name: The name of the program.
  /// - Returns: The path.
  static func path(in variable: (String) -> String?, named name: String) -> String? {
    // The specification says to ignore a path that isn't absolute.
    let own = variable("XDG_STATE_HOME").flatMap { $0.hasPrefix("/") ? $0 : nil }
    guard let folder = own ?? home(variable).map({ $0 + "/.local/state" }) else { return nil }
    let file = String(name.map { $0 == "/" || $0 == "\0" ? "-" : $0 })
    return "\(folder)/swift-keyring/\(file).selection"
  }

  /// Returns the home, if it belongs to this user.
  ///
  /// sudo may pass on the home of another user, where a file that root owns would get in the way. The home
  /// of a user without one doesn't exist or is "/".
  private static func home(_ variable: (String) -> String?) -> String? {
    guard let home = variable("HOME"), home.hasPrefix("/"), home != "/" else { return nil }
    var status = stat()
    return stat(home, &status) == 0 && status.st_uid == geteuid() ? home : nil
  }
}
