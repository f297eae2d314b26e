// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
internal import CKeyringLinux

internal import KeyringLibc

/// The access control list of a file.
///
/// It's an attribute of the file. See [acl(5)](https://man7.org/linux/man-pages/man5/acl.5.html).
struct AccessControlList {
  private static let name = "system.posix_acl_access"
  /// The maximum size of an attribute on the system, in bytes.
  private static let largest = 1 << 16

  fileprivate let bytes: [UInt8]

  /// Reads the list of a file, or returns `nil` if it has none.
  ///
  /// - Parameter path: The path of the file, which must not be a link.
  /// - Throws: `FileFailure` if the list can't be read.
  init?(at path: String) throws(FileFailure) {
    var (count, number) = (0, CInt(0))
    bytes = [UInt8](unsafeUninitializedCapacity: Self.largest) { buffer, initializedCount in
      count = lgetxattr(path, Self.name, buffer.baseAddress, buffer.count)
      number = errno
      initializedCount = max(0, count)
    }
    if count >= 0 { return }
    if Self.meansNone(number) { return nil }
    throw FileFailure("has permissions that can't be read", number: number)
  }

  /// Sets the list of a file, or removes the list that the file inherited from its directory.
  ///
  /// - Parameters:
  ///   - list: The list, or `nil` to remove it.
  ///   - file: The file.
  /// - Returns: `true` if the list was set or removed.
  static func give(_ list: AccessControlList?, to file: OpenFile) -> Bool {
    guard let bytes = list?.bytes else {
      return fremovexattr(file.descriptor, name) == 0 || meansNone(errno)
    }
    return fsetxattr(file.descriptor, name, bytes, bytes.count, 0) == 0
  }

  /// Returns `true` if an error means that there is no list, or that the file system doesn't support lists.
  private static func meansNone(_ number: Int32) -> Bool {
    [ENODATA, ENOTSUP, ENOSYS].contains(number)
  }
}
#endif
