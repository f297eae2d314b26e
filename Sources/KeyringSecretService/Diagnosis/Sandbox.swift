#if SecretService && os(Linux)
internal import KeyringLibc
internal import KeyringStorage

/// The sandbox that separates the program from the rest of the user's session, if there is one.
enum Sandbox: Equatable {
  case none
  /// A Flatpak, with the identifier of the app.
  case flatpak(String)
  /// A snap, with its name.
  case snap(String)

  /// Returns the sandbox of this process.
  ///
  /// - Parameter flatpakInfo: The file that Flatpak puts in each of its sandboxes; see flatpak-metadata(5).
  /// - Returns: The sandbox.
  static func current(flatpakInfo: String = "/.flatpak-info") -> Sandbox {
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

  /// Instructions to grant the program access to the keyring, or `nil` without a sandbox.
  var recoverySuggestion: String? {
    switch self {
    case .none: nil
    case .flatpak:
      "Start it with --talk-name=org.freedesktop.secrets, or add that to its manifest."
    case .snap(let name): "Grant it access: snap connect \(name):password-manager-service"
    }
  }
}
#endif
