internal import KeyringLibc

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
