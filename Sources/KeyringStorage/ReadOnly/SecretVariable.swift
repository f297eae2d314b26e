#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
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
}
