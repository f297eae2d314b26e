// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
/// The sandbox that separates the program from the rest of the user's session, if there is one.
package enum Sandbox: Equatable, Sendable {
  case none
  /// A Flatpak, with the identifier of the app.
  case flatpak(String)
  /// A snap, with its name.
  case snap(String)

  /// Returns the sandbox of this process.
  ///
  /// - Parameter flatpakInfo: The file that Flatpak puts in each of its sandboxes; see flatpak-metadata(5).
  /// - Returns: The sandbox.
  package static func current(flatpakInfo: String = "/.flatpak-info") -> Sandbox {
    if let text = ProcFile.text(flatpakInfo) {
      let lines = text.split(separator: "\n")
      let names = ["name=", "runtime="].compactMap { key in
        lines.first { $0.hasPrefix(key) }?.dropFirst(key.count)
      }
      return .flatpak(names.first.map(String.init) ?? "of unknown name")
    }
    // A program that a snap has started, such as a shell in an editor, inherits the variable.
    if let directory = EnvironmentVariable.path("SNAP"),
      ProcFile.link("/proc/self/exe")?.hasPrefix(directory + "/") == true
    {
      return .snap(EnvironmentVariable.text("SNAP_NAME") ?? "of unknown name")
    }
    return .none
  }

  /// The directory of the app's own data, if any.
  ///
  /// Of the directories of a snap, it's the one that all revisions share.
  package var dataDirectory: String? {
    switch self {
    case .none: nil
    case .flatpak(let name):
      EnvironmentVariable.path("XDG_DATA_HOME")
        ?? EnvironmentVariable.path("HOME").map { "\($0)/.var/app/\(name)/data" }
    case .snap: EnvironmentVariable.path("SNAP_USER_COMMON")
    }
  }

  /// Instructions to store secrets in the sandbox, or `nil` without a sandbox.
  package var recoverySuggestion: String? {
    let permission: String
    switch self {
    case .none: return nil
    case .flatpak:
      permission = "start it with --talk-name=org.freedesktop.secrets, or add that to its manifest"
    case .snap(let name): permission = "run snap connect \(name):password-manager-service"
    }
    return """
      Build the app with swift-keyring's trait EncryptedFile, and use the default storage. It keeps the \
      secrets in a file of the app. To use the user's keyring instead, \(permission).
      """
  }
}
#endif
