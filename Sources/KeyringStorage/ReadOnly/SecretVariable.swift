// For `environ`, which C declares as a variable.
#if canImport(Glibc)
@preconcurrency internal import Glibc
#elseif canImport(Musl)
@preconcurrency internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// A variable of the process's environment.
///
/// Like everything that reads the environment, this is not safe beside a thread that changes it.
enum SecretVariable {
  /// The value, without a copy of it that would not be wiped; `nil` when it is not set, or empty.
  static func value(_ name: String) -> Secret? {
    guard let value = getenv(name), value.pointee != 0 else { return nil }
    return Secret(copying: UnsafeRawBufferPointer(start: value, count: strlen(value)))
  }

  /// The value of a variable that is no secret; `nil` when it is not set, or empty.
  static func text(_ name: String) -> String? {
    guard let value = getenv(name), value.pointee != 0 else { return nil }
    return String(cString: value)
  }

  /// The names of the variables that begin like this and are not empty.
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
