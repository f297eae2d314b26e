// SPDX-License-Identifier: Apache-2.0

// `environ` is a variable in C, so the import needs `@preconcurrency`.
@preconcurrency internal import KeyringLibc

/// A variable of the process's environment.
///
/// Like all code that reads the environment, this isn't safe while another thread changes it.
enum EnvironmentVariable {
  /// Returns the value of a variable, or `nil` if it's not set or empty.
  ///
  /// It makes no copy that isn't overwritten on release.
  static func value(_ name: String) -> Secret? {
    guard let value = getenv(name), value.pointee != 0 else { return nil }
    return Secret(copying: UnsafeRawBufferPointer(start: value, count: strlen(value)))
  }

  /// Returns the value of a variable that isn't a secret, or `nil` if it's not set or empty.
  static func text(_ name: String) -> String? {
    guard let value = getenv(name), value.pointee != 0 else { return nil }
    return String(cString: value)
  }

  /// Returns the names of the nonempty variables that begin with a prefix.
  static func names(withPrefix prefix: String) -> [String] {
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
