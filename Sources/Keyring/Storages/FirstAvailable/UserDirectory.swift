// SPDX-License-Identifier: Apache-2.0

internal import KeyringPlatform
internal import KeyringRuntime
internal import KeyringStorage

/// A directory in which a user's programs keep files.
///
/// See the [XDG Base Directory Specification](https://specifications.freedesktop.org/basedir-spec/latest/).
enum UserDirectory {
  /// The directory for what a program remembers from one run to the next.
  case state
  /// The directory for a program's own data.
  case data

  /// Returns the path of a program's file, or `nil` for a user with no directory for it.
  ///
  /// - Parameters:
  ///   - name: The name of the program.
  ///   - suffix: The end of the file's name.
  ///   - variable: A closure that returns the value of an environment variable.
  /// - Returns: The path.
  func path(
    of name: String, suffix: String, in variable: (String) -> String? = EnvironmentVariable.text
  ) -> String? {
    let (own, inHome) =
      switch self {
      case .state: ("XDG_STATE_HOME", ".local/state")
      case .data: ("XDG_DATA_HOME", ".local/share")
      }
    // The specification says to ignore a path that isn't absolute.
    let path = variable(own).flatMap { $0.hasPrefix("/") ? $0 : nil }
    guard let directory = path ?? home(variable).map({ "\($0)/\(inHome)" }) else { return nil }
    let file = name.replacingScalars(by: "-") { $0 == "/" || $0 == "\0" }
    return "\(directory)/swift-keyring/\(file).\(suffix)"
  }

  /// Returns the home, if it belongs to this user.
  ///
  /// sudo may pass on the home of another user, where a file that root owns would get in the way. The home
  /// of a user without one doesn't exist or is "/".
  private func home(_ variable: (String) -> String?) -> String? {
    guard let home = variable("HOME"), home.hasPrefix("/"), home != "/" else { return nil }
    var status = stat()
    return unsafe stat(home, &status) == 0 && status.st_uid == geteuid() ? home : nil
  }
}
