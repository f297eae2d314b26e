#if SecretService && os(Linux)
internal import Glibc

/// What keeps the program apart from the rest of the user's session, if anything does.
enum Sandbox: Equatable {
  case none
  /// With the identifier of the app.
  case flatpak(String)
  /// With the name of the snap.
  case snap(String)

  /// The sandbox of this process.
  ///
  /// - Parameter flatpakInfo: The file that Flatpak puts in each of its sandboxes; see flatpak-metadata(5).
  /// - Returns: The sandbox.
  static func current(flatpakInfo: String = "/.flatpak-info") -> Sandbox {
    if let text = SmallFile.text(flatpakInfo) {
      let lines = text.split(separator: "\n")
      let names = ["name=", "runtime="].compactMap { key in
        lines.first { $0.hasPrefix(key) }?.dropFirst(key.count)
      }
      return .flatpak(names.first.map(String.init) ?? "of unknown name")
    }
    // Set in every snap, and by hand nowhere.
    if getenv("SNAP") != nil {
      return .snap(getenv("SNAP_NAME").map { String(cString: $0) } ?? "of unknown name")
    }
    return .none
  }

  /// What grants it access to the keyring.
  var advice: String? {
    switch self {
    case .none: nil
    case .flatpak:
      "Start it with --talk-name=org.freedesktop.secrets, or grant that in its manifest."
    case .snap(let name): "Grant it access: snap connect \(name):password-manager-service"
    }
  }
}

/// A file of the system's own, with one page of text at most.
enum SmallFile {
  static func text(_ path: String) -> String? {
    let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard file >= 0 else { return nil }
    defer { close(file) }
    return withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { buffer in
      guard let address = buffer.baseAddress else { return nil }
      let count = read(file, address, buffer.count)
      return count >= 0 ? String(decoding: buffer[..<count], as: UTF8.self) : nil
    }
  }

  /// What a symbolic link says.
  static func link(_ path: String) -> String? {
    withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { buffer in
      guard let address = buffer.baseAddress else { return nil }
      let count = readlink(path, address, buffer.count)
      return count > 0 ? String(decoding: buffer[..<count], as: UTF8.self) : nil
    }
  }
}
#endif
