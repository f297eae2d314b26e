// SPDX-License-Identifier: Apache-2.0

package import KeyringCore
internal import KeyringPlatform

/// A variable of the process's environment.
///
/// An empty variable is treated as a missing one, as the [XDG Base Directory
/// Specification](https://specifications.freedesktop.org/basedir-spec/latest/) says. As in all code that
/// reads the environment, another thread must leave it unchanged meanwhile.
///
/// A program with more rights than its caller, such as a setuid program, ignores all variables, and `HOME` is
/// the home that the system knows.
package enum EnvironmentVariable {
  /// `true` if the program has more rights than the caller, who has chosen its environment.
  package static let isOfCaller: Bool = Platform.hasMoreRightsThanCaller

  /// Returns the value of a variable, or `nil` for an empty or missing one.
  ///
  /// All copies are overwritten on release.
  package static func value(_ name: String) -> Secret? {
    guard let value = pointer(name) else { return nil }
    return Secret(copying: UnsafeRawBufferPointer(start: value, count: strlen(value)))
  }

  /// Returns the value of a variable that isn't a secret, or `nil` for an empty or missing one.
  package static func text(_ name: String) -> String? {
    if isOfCaller, name == "HOME" { return homeOfUser }
    return pointer(name).map { String(cString: $0) }
  }

  /// The home of the effective user.
  private static var homeOfUser: String? {
    var (entry, found) = (passwd(), UnsafeMutablePointer<passwd>?.none)
    return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 1 << 14) { buffer in
      guard let start = buffer.baseAddress,
        getpwuid_r(geteuid(), &entry, start, buffer.count, &found) == 0, found != nil
      else { return nil }
      return String(cString: entry.pw_dir)
    }
  }

  private static func pointer(_ name: String) -> UnsafeMutablePointer<CChar>? {
    guard !isOfCaller, let value = getenv(name), value.pointee != 0 else { return nil }
    return value
  }

  /// Returns the absolute path in a variable, or `nil` for any other value.
  package static func path(_ name: String) -> String? {
    text(name).flatMap { $0.hasPrefix("/") ? $0 : nil }
  }

  /// Returns the names of the nonempty variables that begin with a prefix.
  package static func names(withPrefix prefix: String) -> [String] {
    let prefix = Array(prefix.utf8)
    var names: [String] = []
    var next = isOfCaller ? nil : Platform.environment
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
}
