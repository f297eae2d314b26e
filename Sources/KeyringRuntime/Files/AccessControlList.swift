// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
internal import KeyringPlatform

/// The access control list of a file.
///
/// It's an attribute of the file. See [acl(5)](https://man7.org/linux/man-pages/man5/acl.5.html).
struct AccessControlList {
  private static let name = "system.posix_acl_access"
  /// The maximum size of an attribute on the system, in bytes.
  private static let largest = 1 << 16

  fileprivate let bytes: [UInt8]

  /// Reads the list of a file, if any.
  ///
  /// - Parameter path: The path of the file, which must not be a link.
  /// - Throws: The failure to read the list.
  init?(at path: String) throws(FileFailure) {
    try self.init { lgetxattr(path, Self.name, $0.baseAddress, $0.count) }
  }

  /// Reads the list of the file of a descriptor, if any.
  init?(of descriptor: Int32) throws(FileFailure) {
    try self.init { fgetxattr(descriptor, Self.name, $0.baseAddress, $0.count) }
  }

  private init?(_ read: (UnsafeMutableBufferPointer<UInt8>) -> Int) throws(FileFailure) {
    var (count, number) = (0, CInt(0))
    bytes = [UInt8](unsafeUninitializedCapacity: Self.largest) { buffer, initializedCount in
      count = read(buffer)
      number = errno
      initializedCount = max(0, count)
    }
    if count >= 0 { return }
    if Self.meansNone(number) { return nil }
    throw FileFailure("has permissions that can't be read", number: number)
  }

  /// Returns `true` if the list gives a permission only to the owner of the file, to root and to one user.
  ///
  /// The bytes are a version and the entries, as in the kernel's `posix_acl_xattr.h`. Each entry has a kind, the
  /// permissions, and the user or group that has them.
  func isOnly(for user: uid_t) -> Bool {
    bytes.withUnsafeBytes { bytes in
      func number<Number: FixedWidthInteger & BitwiseCopyable>(_ offset: Int, _: Number.Type)
        -> Number
      {
        Number(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Number.self))
      }
      let entries = stride(from: 4, through: bytes.count - 8, by: 8)
        .map { (number($0, UInt16.self), number($0 + 2, UInt16.self), number($0 + 4, UInt32.self)) }
      let mask = entries.first { $0.0 == 0x10 }?.1 ?? 7
      return !entries.isEmpty
        && entries.allSatisfy { kind, permissions, id in
          switch kind {
          // The owner and the mask.
          case 0x01, 0x10: true
          case 0x02: permissions & mask == 0 || id == user || id == 0
          default: permissions & mask == 0
          }
        }
    }
  }

  /// Sets the list of a file, or removes the list that the file inherited from its directory.
  ///
  /// - Parameters:
  ///   - list: The list, or `nil` to remove it.
  ///   - descriptor: The descriptor of the file.
  /// - Returns: `true` for a list that was set or removed.
  static func give(_ list: AccessControlList?, to descriptor: Int32) -> Bool {
    guard let bytes = list?.bytes else {
      return fremovexattr(descriptor, name) == 0 || meansNone(errno)
    }
    return fsetxattr(descriptor, name, bytes, bytes.count, 0) == 0
  }

  /// Returns `true` for the error of a file, or a file system, that has no lists.
  private static func meansNone(_ number: Int32) -> Bool {
    [ENODATA, ENOTSUP, ENOSYS].contains(number)
  }
}
#endif
