internal import KeyringLibc

/// The current program.
package enum Executable {
  /// The file name of the program, with links resolved, so that all names of one program share items.
  package static let name = baseName(of: path)

  private static var path: String {
    #if os(Linux)
    if let path = link("/proc/self/exe") { return path }
    #endif
    return CommandLine.arguments.first ?? "swift-keyring"
  }

  static func baseName(of path: String) -> String {
    let name = path.split(separator: "/").last.map(String.init) ?? path
    // The kernel adds this mark if the file was replaced while the program runs, for example by an upgrade.
    let mark = " (deleted)"
    return name.hasSuffix(mark) ? String(name.dropLast(mark.count)) : name
  }

  #if os(Linux)
  private static func link(_ path: String) -> String? {
    withUnsafeTemporaryAllocation(byteCount: Int(PATH_MAX), alignment: 1) { buffer in
      guard let address = buffer.baseAddress else { return nil }
      let count = readlink(path, address, buffer.count)
      return count > 0 ? String(decoding: buffer[..<count], as: UTF8.self) : nil
    }
  }
  #endif
}

/// The process's standard error.
package enum StandardError {
  /// Writes a text in one call, so that lines of several threads don't mix.
  ///
  /// - Parameter text: The text, including the end of its last line.
  package static func write(_ text: String) {
    var text = text
    text.withUTF8 { bytes in
      // If standard error is closed, the error can't be reported.
      _ = unistdWrite(STDERR_FILENO, bytes.baseAddress, bytes.count)
    }
  }
}

// Inside the type, its method has this name.
private let unistdWrite = write(_:_:_:)
