// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import CKeyringLinux
import Keyring
import KeyringMigration
import KeyringStorage
import Testing

/// Access control lists of files that are replaced.
///
/// The users who could access the old file can access the new one, and no other users can.
@Suite(.enabled(if: AccessList.isKnown, "the file system has no access control lists"))
struct AccessControlListTests {
  private let token = ItemKey.password(service: "org.example.app", account: "token")

  private func migrate(_ file: TemporaryFile) throws {
    let plan = PlaintextMapping.password("TOKEN", as: token)
    try Migration(of: [plan], from: .environmentFile(file.path), to: InMemoryStorage()).move()
    #expect(try file.content == "A=1\n")
  }

  @Test func `a file keeps its access control list`() throws {
    let file = try TemporaryFile("TOKEN=s3cret\nA=1\n")
    let list = AccessList(group: 0, user: 12345)
    try #require(list.set(of: file.path))
    #expect(file.mode == 0o660, "the group bits of the mode apply to the user")
    try migrate(file)
    #expect(AccessList.bytes(of: file.path) == list.bytes)
    #expect(file.mode == 0o660)
  }

  /// The directory gives a list to new files.
  @Test func `a file without a list gets none`() throws {
    let file = try TemporaryFile("TOKEN=s3cret\nA=1\n", mode: 0o640)
    try #require(AccessList(group: 0, user: 12345).set(of: file.directory, isDefault: true))
    try migrate(file)
    #expect(AccessList.bytes(of: file.path) == nil)
    #expect(file.mode == 0o640)
  }
}

/// An access control list in the system's format.
///
/// Each entry has a kind, the permissions, and the user or group that has them.
private struct AccessList {
  let bytes: [UInt8]

  /// Creates a list for the owner, the group, and another user.
  ///
  /// The owner and the user may read and write. Others may not. The group has the given mode.
  init(group: UInt16, user: UInt32) {
    let none = UInt32.max
    let entries: [(kind: UInt16, mode: UInt16, id: UInt32)] = [
      (0x01, 6, none), (0x02, 6, user), (0x04, group, none), (0x10, 6, none), (0x20, 0, none),
    ]
    bytes =
      Self.littleEndian(UInt32(2))
      + entries.flatMap {
        Self.littleEndian($0.kind) + Self.littleEndian($0.mode) + Self.littleEndian($0.id)
      }
  }

  private static func littleEndian(_ number: some FixedWidthInteger) -> [UInt8] {
    withUnsafeBytes(of: number.littleEndian) { Array($0) }
  }

  func set(of path: String, isDefault: Bool = false) -> Bool {
    let name = "system.posix_acl_\(isDefault ? "default" : "access")"
    return setxattr(path, name, bytes, bytes.count, 0) == 0
  }

  static func bytes(of path: String) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: 1 << 12)
    let count = getxattr(path, "system.posix_acl_access", &bytes, bytes.count)
    return count < 0 ? nil : Array(bytes.prefix(count))
  }

  /// The result of an attempt to give a list to a file of the tests.
  static let isKnown =
    (try? TemporaryFile("")).map { AccessList(group: 0, user: 1).set(of: $0.path) } ?? false
}
#endif
