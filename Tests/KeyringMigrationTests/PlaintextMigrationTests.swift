// SPDX-License-Identifier: Apache-2.0

import Foundation
import Keyring
import KeyringMigration
import KeyringStorage
import KeyringTesting
import Synchronization
import TestPrograms
import Testing

/// Migrations of secrets out of files and dictionaries.
@Suite struct PlaintextMigrationTests {
  private struct Session: Codable, Equatable { var id: Int }

  private let storage = InMemoryStorage()
  private let token = ItemKey.password(service: "org.example.app", account: "token")
  private let login = ItemKey.credentials(service: "org.example.app", label: "login")
  private let session = ItemKey.value(service: "org.example.app", account: "session")

  /// Returns a migration of the variable TOKEN of a file.
  private func migration(
    of file: TemporaryFile, onProgress: @escaping @Sendable (Migration.Progress) -> Void = { _ in }
  ) -> Migration {
    Migration(
      of: [.password("TOKEN", as: token)], from: .environmentFile(file.path), to: storage,
      progress: onProgress)
  }

  /// Returns a migration of the value "token" of an app.
  private func migration(of source: PlaintextSource) -> Migration {
    Migration(of: [.password("token", as: token)], from: source, to: storage)
  }

  // MARK: - Environment files

  /// Lines, their values, and the text that is left of them.
  private static let lines: [(line: String, value: String, rest: String)] = [
    ("TOKEN=s3cret\n", "s3cret", ""),
    ("TOKEN=s3cret", "s3cret", ""),
    ("TOKEN=s3cret\r\n", "s3cret", ""),
    ("  export\tTOKEN = s3cret \t\n", "s3cret", ""),
    ("export TOKEN=\"s3cret\"\r\n", "s3cret", ""),
    ("TOKEN=\n", "", ""),
    ("TOKEN=\"\"", "", ""),
    ("TOKEN=a#b # of ada\r\n", "a#b", "# of ada\r\n"),
    ("TOKEN=# none\n", "# none", ""),
    ("TOKEN=a # TOKEN=b\n", "a", "# TOKEN=b\n"),
    ("TOKEN='a\\n#\"$x' # 'c'\n", "a\\n#\"$x", "# 'c'\n"),
    ("TOKEN=\"a\\n\\t\\r\\\"\\\\$`\\q'#\" #c", "a\n\t\r\"\\$`\\q'#", "#c"),
    ("TOKEN=\"one\r\ntwo=2\r\n\"  \r\n", "one\ntwo=2\n", ""),
    ("TOKEN='one\rtwo'\r", "one\ntwo", ""),
    ("TOKEN=s3cret\r", "s3cret", ""),
    ("TOKEN='one\nAFTER=no\n'\n", "one\nAFTER=no\n", ""),
    ("TOKEN=it's $HOME=\"x\"\n", "it's $HOME=\"x\"", ""),
    ("TOKEN=\u{e9}\u{1F511}\n", "\u{e9}\u{1F511}", ""),
  ]

  @Test(arguments: lines) func `a variable is read and cut out of its file`(
    line: String, value: String, rest: String
  ) throws {
    let before = "\u{FEFF}# TOKEN=no\n\n \t\r\rOTHER_TOKEN='a # b'\nTOKEN2=x\r\n QUOTE=\"\\$\"\n"
    let after = line.last?.isNewline == true ? "\r\nAFTER = \"x\" \r\n#end" : ""
    let file = try TemporaryFile(before + line + after)
    let migration = migration(of: file)
    #expect(try migration.move().count == 1)
    #expect(try storage.password(for: token) == value)
    #expect(try Array(file.content.utf8) == Array((before + rest + after).utf8))
    #expect(try migration.move().count == 0)
  }

  @Test(arguments: [
    ("TOKEN=\"s3cret\nA=1\n", SecureStorageError.Code.undecodable),
    ("TOKEN='s3cret'more\n", .undecodable),
    ("TOKEN=`s3cret`\n", .undecodable),
    ("TOKEN=s3cret\\\nmore\n", .undecodable),
    ("TOKEN=\"s3cret\"#more\n", .undecodable),
    ("TOKEN= # s3cret\n", .undecodable),
    ("TOKEN=\"s3cret\\$\"\n", .undecodable),
    ("TOKEN='s3cret\\\\'\n", .undecodable),
    ("TOKEN='s3cret\\'\nA='b'\n", .undecodable),
    ("TOKEN=\"s3cret\\\\\"\nA=\"b\"\n", .undecodable),
    ("TOKEN=s3cret\u{A0}# more\n", .undecodable),
    ("TOKEN=s3cret\u{1F}\n", .undecodable),
    ("TOKEN=s3cret\nexport TOKEN=s3cret\n", .ambiguous),
  ])
  func `a line that could be read in several ways is refused`(
    content: String, code: SecureStorageError.Code
  ) throws {
    let file = try TemporaryFile(content)
    let migration = migration(of: file)
    let error = expectError(code) { try migration.move() }
    #expect(error?.message.contains("TOKEN") == true)
    #expect("\(error as Any)".contains("s3cret") == false)
    #expect(try file.content == content)
    #expect(try storage.items(matching: ItemQuery()).isEmpty)
  }

  /// A line that isn't a variable may be the rest of a value, as that of a key without quotes.
  @Test(arguments: [
    ("A=1\n\nTOKEN=-----BEGIN KEY-----\nMIIEs3cret+/=\n-----END KEY-----\n", 4),
    ("TOKEN=a\r# b\r\n\rs3cret\r", 4), ("TOKEN\n", 1), ("TOKEN=a\nB: s3cret\n", 2),
    ("TOKEN=a\nB='1\n2\n'\n\nC=\"s3cret\n", 6), ("TOKEN=a\nB=s3cret\\\nc=1", 2),
    ("TOKEN=a\nB=`s3cret\n`", 2), ("TOKEN=a\nexport B\n", 2), ("TOKEN=a\nB='s3cret'c\n", 2),
  ])
  func `a file with a line that is no variable is refused`(content: String, line: Int) throws {
    let file = try TemporaryFile(content)
    let migration = migration(of: file)
    let error = expectError(.undecodable) { try migration.move() }
    #expect("\(error as Any)".contains("s3cret") == false)
    #expect(error?.message.lowercased().contains("line \(line) ") == true, "\(error as Any)")
    #expect(try Array(file.content.utf8) == Array(content.utf8))
    #expect(try storage.items(matching: ItemQuery()).isEmpty)
  }

  /// Editors on Windows can save files in this encoding.
  @Test(arguments: [false, true], [[0xFF, 0xFE], []] as [[UInt8]])
  func `text in UTF-16 is refused`(isJSON: Bool, mark: [UInt8]) throws {
    let text = isJSON ? "{\"TOKEN\": \"s3cret\"}" : "TOKEN=s3cret\n"
    let bytes = mark + text.utf16.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] }
    let file = try TemporaryFile(bytes: bytes)
    let place: PlaintextSource = isJSON ? .jsonFile(file.path) : .environmentFile(file.path)
    let migration = Migration(of: [.password("TOKEN", as: token)], from: place, to: storage)
    let error = expectError(.undecodable) { try migration.move() }
    #expect(error?.recoverySuggestion?.contains("UTF-8") == true)
    #expect(try storage.items(matching: ItemQuery()).isEmpty)
  }

  @Test func `text that is not UTF-8 is not a password`() throws {
    let file = try TemporaryFile(bytes: Array("TOKEN=".utf8) + [0xFF, 0x0A])
    let migration = migration(of: file)
    let error = expectError(.undecodable) { try migration.move() }
    #expect(error?.message.contains("isn't text in UTF-8") == true)
  }

  // MARK: - JSON

  private static let json = """
    {
      "version" : 1.50,  "to\\u006ben": "s\\u0033cret\\n", "null": null,
      "accounts": {"ada": {"login": "ada", "password": "pa\\"}55"}, "count": 12e1},
      "session": {"id": 7, "more": [1, {"a": "]"}]}
    }

    """

  private var plans: [PlaintextMapping] {
    [
      .password("token", as: token), .credential("accounts", "ada", as: login),
      .value("session", of: Session.self, as: session),
      .password("null", as: .password(service: "null", account: "null")),
      .password("accounts", "bob", "token", as: .password(service: "bob", account: "bob")),
    ]
  }

  @Test func `members are read and cut out of a JSON file`() throws {
    let file = try TemporaryFile(Self.json)
    #expect(try Migration(of: plans, from: .jsonFile(file.path), to: storage).move().count == 3)
    #expect(try storage.password(for: token) == "s3cret\n")
    #expect(
      try storage[login, as: .credential].read() == Credential(login: "ada", password: "pa\"}55"))
    #expect(try storage[session, as: .value(Session.self)].read() == Session(id: 7))
    let stored = try storage.secret(for: session)
    #expect(stored?.text == "{\"id\": 7, \"more\": [1, {\"a\": \"]\"}]}", "the text as it was")
    #expect(
      try file.content == """
        {
          "version" : 1.50,  "null": null,
          "accounts": {"count": 12e1}
        }

        """)
  }

  @Test(arguments: [
    ("{\"a\":1,\"t\":\"x\"}", "{\"a\":1}"), ("{\"t\":\"x\",\"a\":1}", "{\"a\":1}"),
    ("{ \"t\" : \"x\" }", "{  }"), ("\u{FEFF}{\"a\":1 ,\n \"t\":\"x\"\n}", "\u{FEFF}{\"a\":1\n}"),
    ("{\"a\":1,\"t\":\"x\",}", "{\"a\":1,}"),
  ])
  func `a member takes its comma along`(content: String, left: String) throws {
    let file = try TemporaryFile(content)
    let plan = PlaintextMapping.password("t", as: token)
    try Migration(of: [plan], from: .jsonFile(file.path), to: storage).move()
    #expect(try storage.password(for: token) == "x")
    #expect(try Array(file.content.utf8) == Array(left.utf8))
  }

  @Test(arguments: [
    ("{\"token\": 1}", SecureStorageError.Code.undecodable),
    ("{\"token\": {\"s3cret\": 1}}", .undecodable),
    ("{\"token\": [\"s3cret\"]}", .undecodable),
    ("{\"token\": \"s3cret\"", .undecodable),
    ("{\"token\": \"s3cret\"} more", .undecodable),
    ("[\"token\", \"s3cret\"]", .undecodable),
    ("", .undecodable),
    ("{\"token\": \"s3cret\", \"tok\\u0065n\": \"s3cret\"}", .ambiguous),
    ("{\"session\": \"s3cret\"}", .undecodable),
    ("{\"session\": {\"name\": \"s3cret\"}}", .undecodable),
    ("{\"accounts\": {\"ada\": \"s3cret\"}}", .undecodable),
    ("{\"accounts\": {\"ada\": {\"password\": \"s3cret\"}}}", .undecodable),
    (
      "{\"accounts\": {\"ada\": {\"login\": \"a\", \"password\": \"s3cret\", \"code\": \"1\"}}}",
      .undecodable
    ),
    ("{\"accounts\": [{\"ada\": \"s3cret\"}]}", .undecodable),
  ])
  func `invalid JSON and members of wrong types are refused`(
    content: String, code: SecureStorageError.Code
  ) throws {
    let file = try TemporaryFile(content)
    let error = expectError(code) {
      try Migration(of: plans, from: .jsonFile(file.path), to: storage).move()
    }
    #expect("\(error as Any)".contains("s3cret") == false)
    #expect(try file.content == content)
    #expect(try storage.items(matching: ItemQuery()).isEmpty)
  }

  @Test func `a variable can be a value of any kind`() throws {
    let file = try TemporaryFile(
      "TEXT=12\nDATA=AP8=\nSESSION={\"id\": 7}\nLOGIN='{\"login\": \"ada\", \"password\": \"p\"}'\n"
    )
    func key(_ account: String) -> ItemKey { .value(service: "service", account: account) }
    let plans: [PlaintextMapping] = [
      .value("TEXT", of: String.self, as: key("text")),
      .value("DATA", of: Data.self, as: key("data")),
      .value("SESSION", of: Session.self, as: key("session")), .credential("LOGIN", as: login),
    ]
    #expect(
      try Migration(of: plans, from: .environmentFile(file.path), to: storage).move().count == 4)
    #expect(try storage[key("text"), as: .value(String.self)].read() == "12")
    #expect(try storage.secret(for: key("data")) == Secret(bytes: [0, 0xFF]))
    #expect(try storage[key("session"), as: .value(Session.self)].read() == Session(id: 7))
    #expect(try storage[login, as: .credential].read()?.password == "p")
    #expect(try file.content.isEmpty)
  }

  // MARK: - Files

  @Test(arguments: [0o600, 0o640] as [mode_t])
  func `a file keeps its permissions and symbolic links`(mode: mode_t) throws {
    let file = try TemporaryFile("TOKEN=s3cret\nA=1\n", mode: mode)
    let alias = file.directory + "/link"
    try #require(symlink(file.path, alias) == 0)
    let plan = PlaintextMapping.password("TOKEN", as: token)
    try Migration(of: [plan], from: .environmentFile(alias), to: storage).move()
    #expect(try file.content == "A=1\n")
    #expect(file.mode == mode)
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: alias) == file.path)
    #expect(try file.neighbours == ["file", "link"], "nothing is left beside it")
  }

  @Test func `a file that does not exist has no values`() throws {
    #expect(
      try Migration(of: plans, from: .jsonFile("/nowhere/a.json"), to: storage).move().count == 0)
  }

  @Test func `a file with a second name is refused`() throws {
    let file = try TemporaryFile("TOKEN=s3cret\n")
    try #require(link(file.path, file.directory + "/other") == 0)
    let migration = migration(of: file)
    expectError(.invalidArgument) { try migration.move() }
    #expect(try !storage.exists(token))
  }

  @Test func `a directory in the place of a file is refused`() throws {
    let file = try TemporaryFile("")
    let migration = Migration(of: plans, from: .jsonFile(file.directory), to: storage)
    expectError(.invalidArgument) { try migration.move() }
  }

  @Test(.enabled(if: geteuid() != 0, "root may write everywhere"), arguments: [true, false])
  func `a file that cannot be changed is refused before any write`(isDirectory: Bool) throws {
    let file = try TemporaryFile("TOKEN=s3cret\n")
    let (path, mode): (String, mode_t) = isDirectory ? (file.directory, 0o500) : (file.path, 0o400)
    try #require(chmod(path, mode) == 0)
    defer { chmod(path, 0o700) }
    let migration = migration(of: file)
    expectError(.accessDenied) { try migration.move() }
    #expect(try !storage.exists(token))
  }

  @Test func `a change of the value is noticed, and other changes are kept`() throws {
    let file = try TemporaryFile("TOKEN=s3cret\nA=1\n")
    let content = Mutex("TOKEN=newer\n")
    let migration = migration(of: file) {
      guard $0.phase == .removing, $0.completed == 0 else { return }
      #expect(throws: Never.self) { try file.write(Array(content.withLock(\.self).utf8)) }
    }
    let error = expectError(.sourceChanged) { try migration.move() }
    #expect("\(error as Any)".contains("newer") == false)
    #expect(try file.content == "TOKEN=newer\n")
    expectError(.itemAlreadyExists) { try migration.move() }
    try file.write(Array("TOKEN=s3cret\nA=1\n".utf8))
    content.withLock { $0 = "B=2\nTOKEN=\"s3cret\"\n" }
    #expect(try migration.move().count == 1)
    #expect(try file.content == "B=2\n")
  }

  @Test func `a migration goes on after a failure at any call`() throws {
    var failures = 0
    for operation in [SecureStorageError.Operation.read, .save] {
      for (isDone, call) in [(true, 1), (true, 2), (true, 3), (false, 1), (false, 2), (false, 3)] {
        let file = try TemporaryFile(Self.json)
        let storage = FaultyStorage()
        if isDone {
          storage.failAfterCompletion(operation, with: .connectionLost, onCall: call)
        } else {
          storage.fail(operation, with: .connectionLost, onCall: call)
        }
        let migration = Migration(of: plans, from: .jsonFile(file.path), to: storage)
        do { try migration.move() } catch {
          if operation == .save { failures += 1 }
          #expect(try file.content == Self.json)
          #expect(try migration.move().count == 3)
        }
        storage.reset()
        #expect(try storage.items(matching: ItemQuery()).count == 3)
        #expect(try storage.password(for: token) == "s3cret\n")
        #expect(try !file.content.contains("s\\u0033cret"))
      }
    }
    #expect(failures == 6, "each of the three saves fails in two ways")
  }

  /// One value doesn't become two items, nor do two values become one.
  @Test(arguments: [("TOKEN", "TOKEN", "other"), ("TOKEN", "SAME", "token")])
  func `a value is one item`(first: String, second: String, account: String) throws {
    let file = try TemporaryFile("TOKEN=s3cret\nSAME=s3cret\n")
    let other = ItemKey.password(service: "org.example.app", account: account)
    let plans: [PlaintextMapping] = [.password(first, as: token), .password(second, as: other)]
    expectError(.ambiguous) {
      try Migration(of: plans, from: .environmentFile(file.path), to: storage).move()
    }
  }

  // MARK: - Values of the app

  @Test func `values of the app are read and removed`() throws {
    let defaults = Defaults([
      "token": "s3cret", "session": ["id": 7], "other": 1,
      "login": Data("{\"login\": \"ada\", \"password\": \"pa55\"}".utf8),
      "bytes": [0, 0xFF] as [UInt8],
    ])
    let bytes = ItemKey.value(service: "service", account: "bytes")
    let plans: [PlaintextMapping] = [
      .password("token", as: token), .credential("login", as: login),
      .value("session", of: Session.self, as: session), .value("bytes", of: Data.self, as: bytes),
      .password("absent", as: .password(service: "service", account: "absent")),
    ]
    #expect(try Migration(of: plans, from: defaults.plaintext, to: storage).move().count == 4)
    #expect(try storage.password(for: token) == "s3cret")
    #expect(try storage[login, as: .credential].read()?.password == "pa55")
    #expect(try storage[session, as: .value(Session.self)].read() == Session(id: 7))
    #expect(try storage.secret(for: bytes) == Secret(bytes: [0, 0xFF]))
    #expect(defaults.names == ["other"])
  }

  /// The variable is gone when the program starts again.
  @Test func `values stay if the destination can't store them`() throws {
    let defaults = Defaults(["token": "s3cret"])
    setenv("MIGRATION_TEST_TOKEN", "s3cret", 1)
    defer { unsetenv("MIGRATION_TEST_TOKEN") }
    let destination = EnvironmentStorage(service: "service", prefix: "MIGRATION_TEST_")
    let key = ItemKey.password(service: "service", account: "token")
    #expect(try destination.password(for: key) == "s3cret")
    let migration = Migration(
      of: [.password("token", as: key)], from: defaults.plaintext, to: destination)
    expectError(.readOnly) { try migration.move() }
    #expect(defaults.names == ["token"])
  }

  /// An empty array can be cast to an array of any type.
  @Test func `an empty list of the app is a list`() throws {
    let defaults = Defaults(["session": [String]()])
    let plan = PlaintextMapping.value("session", of: [String].self, as: session)
    #expect(try Migration(of: [plan], from: defaults.plaintext, to: storage).move().count == 1)
    #expect(try storage[session, as: .value([String].self)].read() == [])
  }

  // The members of a dictionary have another order in every process.
  @Test func `a dictionary is the same value in any order`() throws {
    let members = (0..<20).map { ("member \($0)", $0) }
    var larger = [String: Int](minimumCapacity: 1000)
    for (name, value) in members.reversed() { larger[name] = value }
    let smaller = Dictionary(uniqueKeysWithValues: members)
    try #require(Array(larger.keys) != Array(smaller.keys))
    let plan = PlaintextMapping.value("numbers", of: [String: Int].self, as: session)
    let faulty = FaultyStorage(storage)
    faulty.failAfterCompletion(.save, with: .connectionLost)
    let defaults = Defaults(["numbers": smaller])
    expectError(.connectionLost) {
      try Migration(of: [plan], from: defaults.plaintext, to: faulty).move()
    }
    defaults.values.withLock { $0["numbers"] = larger }
    #expect(try Migration(of: [plan], from: defaults.plaintext, to: storage).move().count == 1)
    #expect(try storage[session, as: .value([String: Int].self)].read() == smaller)
  }

  @Test func `values of the app with a wrong type are refused`() throws {
    struct Opaque {}
    for value in [1, true, ["s3cret"], Opaque()] as [any Sendable] {
      let defaults = Defaults(["token": value])
      expectError(.undecodable) { try migration(of: defaults.plaintext).move() }
      #expect(defaults.names == ["token"])
    }
  }

  @Test func `a change of the values of the app is noticed`() throws {
    let defaults = Defaults(["token": "s3cret"])
    let plan = PlaintextMapping.password("token", as: token)
    let migration = Migration(of: [plan], from: defaults.plaintext, to: storage) {
      if $0.phase == .verifying { defaults.values.withLock { $0["token"] = "newer" } }
    }
    expectError(.sourceChanged) { try migration.move() }
    #expect(defaults.names == ["token"])
  }

  @Test func `a removal that fails in the app is an error that shows no secret`() throws {
    struct Failure: Error { let text = "s3cret" }
    let failing = PlaintextSource.values(read: { _ in "s3cret" }, remove: { _ in throw Failure() })
    let forgetful = PlaintextSource.values(read: { _ in "s3cret" }, remove: { _ in })
    for plaintext in [failing, forgetful] {
      let error = #expect(throws: SecureStorageError.self) { try migration(of: plaintext).move() }
      #expect(error?.operation == .remove)
      #expect(!"\(error as Any)".contains("s3cret"))
      #expect(try storage.password(for: token) == "s3cret")
    }
  }
}

/// A file in its own directory, which is deleted with the file.
final class TemporaryFile: Sendable {
  private let place = TemporaryDirectory()
  var directory: String { place.path }
  var path: String { place.path("file") }

  convenience init(_ text: String, mode: mode_t = 0o600) throws {
    try self.init(bytes: Array(text.utf8), mode: mode)
  }

  init(bytes: [UInt8], mode: mode_t = 0o600) throws {
    try write(bytes)
    try place.setMode(Int(mode), of: "file")
  }

  var content: String { get throws { try place.text("file") } }
  var neighbours: [String] { get throws { try place.names().sorted() } }

  var mode: mode_t {
    var status = stat()
    return stat(path, &status) == 0 ? status.st_mode & 0o7777 : 0
  }

  func write(_ bytes: [UInt8]) throws { try place.write(bytes, "file") }
}
