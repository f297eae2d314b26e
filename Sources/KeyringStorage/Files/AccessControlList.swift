#if os(Linux)
internal import CLinuxFiles

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// An access control list, as [acl(5)](https://man7.org/linux/man-pages/man5/acl.5.html) describes it:
/// an attribute of a file.
struct AccessControlList {
  private static let name = "system.posix_acl_access"
  /// The most bytes that the system keeps in an attribute.
  private static let largest = 1 << 16

  fileprivate let bytes: [UInt8]

  /// Reads the list of a file; `nil` when it has none.
  ///
  /// - Parameter path: The path of the file; no link.
  /// - Throws: The system's error.
  init?(at path: String) throws(FileFailure) {
    var (count, number) = (0, CInt(0))
    bytes = [UInt8](unsafeUninitializedCapacity: Self.largest) { buffer, initializedCount in
      count = lgetxattr(path, Self.name, buffer.baseAddress, buffer.count)
      number = errno
      initializedCount = max(0, count)
    }
    if count >= 0 { return }
    if Self.meansNone(number) { return nil }
    throw FileFailure("has permissions that cannot be read", number: number)
  }

  /// Gives a file a list, or takes away what it has got from the folder that it was made in.
  ///
  /// - Parameters:
  ///   - list: The list; `nil` for none.
  ///   - file: The file.
  /// - Returns: Whether that was possible.
  static func give(_ list: AccessControlList?, to file: OpenFile) -> Bool {
    guard let bytes = list?.bytes else {
      return fremovexattr(file.descriptor, name) == 0 || meansNone(errno)
    }
    return fsetxattr(file.descriptor, name, bytes, bytes.count, 0) == 0
  }

  /// Whether an error says that there is no list, or that the file system knows none.
  private static func meansNone(_ number: Int32) -> Bool {
    [ENODATA, ENOTSUP, ENOSYS].contains(number)
  }
}
#endif
