// SPDX-License-Identifier: Apache-2.0

// `environ` is a variable in C, so the import needs `@preconcurrency`.
@preconcurrency internal import KeyringLibc

/// A variable of the process's environment.
///
/// An empty variable counts as not set, as the
/// [XDG Base Directory Specification](https://specifications.freedesktop.org/basedir-spec/latest/) says. Like all
/// code that reads the environment, this isn't safe while another thread changes it.
package enum EnvironmentVariable {
  /// Returns the value of a variable, or `nil` if it's not set or empty.
  ///
  /// It makes no copy that isn't overwritten on release.
  package static func value(_ name: String) -> Secret? {
    guard let value = getenv(name), value.pointee != 0 else { return nil }
    return Secret(copying: UnsafeRawBufferPointer(start: value, count: strlen(value)))
  }

  /// Returns the value of a variable that isn't a secret, or `nil` if it's not set or empty.
  package static func text(_ name: String) -> String? {
    guard let value = getenv(name), value.pointee != 0 else { return nil }
    return String(cString: value)
  }

  /// Returns the value of a variable that is an absolute path, or `nil` if it's not set or not absolute.
  package static func path(_ name: String) -> String? {
    text(name).flatMap { $0.hasPrefix("/") ? $0 : nil }
  }

  /// Returns the names of the nonempty variables that begin with a prefix.
  package static func names(withPrefix prefix: String) -> [String] {
    let prefix = Array(prefix.utf8)
    var names: [String] = []
    var next = entries
    while let entry = next?.pointee {
      let bytes = UnsafeRawBufferPointer(start: entry, count: strlen(entry))
      if bytes.starts(with: prefix), let end = bytes.firstIndex(of: UInt8(ascii: "=")),
        end > 0, end < bytes.count - 1
      {
        names.append(String(decoding: bytes[..<end], as: UTF8.self))
      }
      next = next?.successor()
    }
    return names
  }

  private static var entries: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? {
    #if canImport(Darwin)
    _NSGetEnviron().pointee
    #else
    environ
    #endif
  }
}
