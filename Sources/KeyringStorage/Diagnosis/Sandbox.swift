#if os(Linux)
internal import KeyringLibc

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
    // This variable is set in every snap, and users don't set it by hand.
    if getenv("SNAP") != nil {
      return .snap(getenv("SNAP_NAME").map { String(cString: $0) } ?? "of unknown name")
    }
    return .none
  }

  /// The folder of the app's own data, or `nil` if the sandbox has none.
  ///
  /// Flatpak names it in `XDG_DATA_HOME`. Of the folders of a snap, it's the one that all revisions share.
  package var dataFolder: String? {
    let variable: String
    switch self {
    case .none: return nil
    case .flatpak: variable = "XDG_DATA_HOME"
    case .snap: variable = "SNAP_USER_COMMON"
    }
    guard let path = getenv(variable).map({ String(cString: $0) }), path.hasPrefix("/") else {
      return nil
    }
    return path
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
