#if os(Linux)
import CLinuxFiles
import KeyringMigration
import KeyringStorage
import Testing

/// A file that is replaced is open to those to whom it was open, and to nobody else.
@Suite(.enabled(if: AccessList.isKnown, "the file system has no access control lists"))
struct AccessControlListTests {
  private let token = ItemKey.password(service: "org.example.app", account: "token")

  private func migrate(_ file: TemporaryFile) throws {
    let plan = PlaintextMapping.password("TOKEN", as: token)
    try Migration(of: [plan], from: .environmentFile(file.path), to: InMemoryStorage()).run()
    #expect(try file.content == "A=1\n")
  }

  @Test func fileKeepsItsList() throws {
    let file = try TemporaryFile("TOKEN=s3cret\nA=1\n")
    let list = AccessList(group: 0, user: 12345)
    try #require(list.set(of: file.path))
    #expect(file.mode == 0o660, "what the mode says of the group is said of the user")
    try migrate(file)
    #expect(AccessList.bytes(of: file.path) == list.bytes)
    #expect(file.mode == 0o660)
  }

  /// New files get one from such a folder.
  @Test func fileWithoutAListGetsNone() throws {
    let file = try TemporaryFile("TOKEN=s3cret\nA=1\n", mode: 0o640)
    try #require(AccessList(group: 0, user: 12345).set(of: file.folder, isDefault: true))
    try migrate(file)
    #expect(AccessList.bytes(of: file.path) == nil)
    #expect(file.mode == 0o640)
  }
}

/// An access control list as the system takes it: each entry a kind, what is allowed, and to whom.
private struct AccessList {
  let bytes: [UInt8]

  /// The owner may read and write, the group what is said, a user read and write; others nothing.
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

  /// Whether the files that tests make can have one, which was tried.
  static let isKnown =
    (try? TemporaryFile("")).map { AccessList(group: 0, user: 1).set(of: $0.path) } ?? false
}
#endif
