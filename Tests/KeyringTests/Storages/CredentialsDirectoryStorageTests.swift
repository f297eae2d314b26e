// SPDX-License-Identifier: Apache-2.0

import Foundation
import Keyring
import KeyringStorage
import TestPrograms
import Testing

/// Secrets that are files in a directory.
@Suite struct CredentialsDirectoryStorageTests {
  private let directory = TemporaryDirectory()
  private let service = "org.example.app"

  private var storage: CredentialsDirectoryStorage {
    CredentialsDirectoryStorage(service: service, directory: directory.path)
  }

  private func password(_ account: String) -> ItemKey {
    .password(service: service, account: account)
  }

  @Test func `a file can be read as a password, a value or a credential`() throws {
    try directory.write("s3cret\n", "authToken")
    try directory.write(#"{"login": "ada", "password": "pa55"}"#, "database")
    let storage = storage.service(service)
    #expect(try storage.password("authToken").read() == "s3cret")
    #expect(try storage.value("authToken", as: [UInt8].self).read() == Array("s3cret\n".utf8))
    #expect(try storage.credential("database").read()?.password == "pa55")
    #expect(try storage.credential("database").read()?.login == "ada")
    #expect(try storage.password("absent").read() == nil)
  }

  @Test(arguments: [
    ("a\n", "a"), ("a\r\n", "a"), ("a\n\n", "a\n"), ("a", "a"), ("", ""), ("\n", ""),
  ])
  func `the last line break is not part of a password`(content: String, password: String) throws {
    try directory.write(content, "token")
    #expect(try storage.password(for: self.password("token")) == password)
  }

  @Test func `a link in a circle is an error and is named, and the rest is listed`() throws {
    try directory.link("token", to: "token")
    // Otherwise, an app would go on to another storage.
    #expect(storage.diagnose(writing: false).failure == nil)
    try directory.write("s3cret", "other")
    try directory.link("one", to: "two")
    try directory.link("two", to: "one")
    for name in ["token", "one"] {
      let error = expectError(.other) { try storage.password(for: password(name)) }
      #expect(error?.message.contains("/\(name) can't be read") == true)
      #expect(error?.message.contains("a link leads in a circle") == true)
    }
    let found = try storage.items(matching: .service(service, details: .secret))
    #expect(found.map(\.key) == [password("other")] && found[0].secret == Secret("s3cret"))
    let findings = storage.diagnose(writing: false).findings
    #expect(findings.filter { $0.state == .notice }.count == 3)
    #expect(findings.contains { $0.text.contains("/token can't be read") }, "\(findings)")
  }

  @Test func `an empty file is an empty secret, which the diagnosis names`() throws {
    try directory.write("", "token")
    #expect(try storage.password(for: password("token")) == "")
    let findings = storage.diagnose(writing: false).findings
    #expect(
      findings.contains { $0.state == .notice && $0.text.hasPrefix("token: ") }, "\(findings)")
  }

  /// In the targets of the links, DIRECTORY is the directory itself, and OUTSIDE another one beside it.
  @Test(arguments: [
    [("token", "../OUTSIDE/shadow")], [("token", "/etc/passwd")],
    [("token", "DIRECTORY/../OUTSIDE/shadow")], [("token", "inner/../../OUTSIDE/shadow")],
    [("token", "hop"), ("hop", "../OUTSIDE/shadow")],
    [("..data", "../OUTSIDE"), ("token", "..data/shadow")],
    [("..data", "/etc"), ("token", "..data/passwd")], [("..data", "/etc")],
    [("..data", "inner"), ("token", "..data/../../OUTSIDE/shadow")],
    [("..data", "inner"), ("token", "..data/out")],
    [("..data", "inner"), ("token", "..data/absolute")],
    [("hop", "/proc/self/root"), ("token", "hop/etc/passwd")],
    [("hop", "../OUTSIDE"), ("token", "hop/shadow")],
  ])
  func `no link leads out of the directory`(links: [(name: String, target: String)]) throws {
    let outside = TemporaryDirectory()
    try outside.write("of another user", "shadow")
    let outsideName = (outside.path as NSString).lastPathComponent
    func target(_ text: String) -> String {
      text.replacing("OUTSIDE", with: outsideName).replacing("DIRECTORY", with: directory.path)
    }
    try directory.makeDirectory("inner")
    try directory.link("inner/out", to: target("../../OUTSIDE/shadow"))
    try directory.link("inner/absolute", to: "/etc/passwd")
    try directory.write("s3cret", "plain")
    for (name, path) in links { try directory.link(name, to: target(path)) }
    let name = links.contains { $0.name == "token" } ? "token" : "passwd"
    let error = #expect(throws: SecureStorageError.self) {
      try storage.password(for: password(name))
    }
    #expect(error?.message.contains("a link leads out of the directory") == true, "\(error as Any)")
    #expect(throws: SecureStorageError.self) {
      try storage.items(for: [password(name)], details: [])
    }
    // A plain file can be read in any case.
    #expect(try storage.password(for: password("plain")) == "s3cret")
    do throws(SecureStorageError) {
      let found = try storage.items(matching: .service(service, details: .secret))
      #expect(found.map(\.key) == [password("plain")])
    } catch {
      // Without its version, the directory has no list.
      #expect(links[0].name == "..data" && links[0].target.contains("/"), "\(error)")
    }
  }

  /// As by sops-nix and agenix, which replace a link to the directory.
  @Test func `links within the directory are followed, also by another name of it`() throws {
    let other = TemporaryDirectory()
    try directory.makeDirectory("inner")
    try directory.write("s3cret", "inner/secret")
    let alias = other.path + "/secrets"
    try other.link("secrets", to: directory.path)
    let targets = [
      "inner/secret", "./inner/../inner/secret", "\(directory.path)/inner/secret",
      "\(alias)/inner/secret",
      "\(directory.path)/../\((directory.path as NSString).lastPathComponent)/inner/secret", "0",
    ]
    for (number, target) in targets.enumerated() { try directory.link("\(number)", to: target) }
    for path in [directory.path, alias, alias + "/"] {
      let storage = CredentialsDirectoryStorage(service: service, directory: path)
      for (number, target) in targets.enumerated() {
        #expect(try storage.password(for: password("\(number)")) == "s3cret", "\(target)")
      }
      #expect(try storage.items(matching: .service(service)).count == targets.count)
    }
    // The version may be a link with an absolute path, too.
    try directory.link("..data", to: "\(alias)/inner")
    try directory.link("versioned", to: "..data/secret")
    try directory.link("inner/moved", to: "../inner/secret")
    for name in ["versioned", "secret", "moved", "0", "3"] {
      #expect(try storage.password(for: password(name)) == "s3cret", "\(name)")
    }
    #expect(try storage.items(matching: .service(service)).count == targets.count + 3)
  }

  @Test func `a search finds the files whose names are allowed`() throws {
    try directory.write("1", "one")
    try directory.write(#"{"login": "ada", "password": "pa55"}"#, "two")
    try directory.write("not listed", ".hidden")
    try directory.write("not listed", "no:credential")
    try directory.makeDirectory("directory")
    let scope = storage.service(service)
    #expect(Set(try scope.names()) == ["one", "two"])
    #expect(Set(try scope.names(of: .value)) == ["one", "two"])
    #expect(try scope.names(of: .credentials) == ["two"])
    #expect(try storage.items(matching: ItemQuery(limit: 1)).count == 1)
    #expect(try storage.items(matching: .service("other")).isEmpty)
    let old = Date(timeIntervalSince1970: 1_000_000)
    try FileManager.default.setAttributes(
      [.modificationDate: old], ofItemAtPath: directory.path + "/one")
    let newestFirst = try storage.items(matching: ItemQuery())
    #expect(newestFirst.map(\.key) == [password("two"), password("one")])
    let found = try storage.items(matching: ItemQuery(modified: old...old, details: .metadata))
    #expect(found.map(\.key) == [password("one")] && found[0].secret == nil)
    #expect(found[0].modified == old && found[0].label == password("one").defaultLabel)
  }

  /// Kubernetes mounts the files that it gives every program beside an image's own `/run/secrets`.
  @Test func `a directory without files is passed over`() throws {
    try directory.makeDirectory("kubernetes.io")
    try directory.write("s3cret", ".hidden")
    #expect(storage.diagnose().failure?.code == .noStorage)
    let chosen = FirstAvailableStorage([storage, InMemoryStorage()])
    #expect(try chosen.selection().index == 1)
    try directory.write("s3cret", "authToken")
    #expect(storage.diagnose().failure == nil)
  }

  @Test func `keys of other services, groups and kinds have no file`() throws {
    try directory.write("s3cret", "token")
    for key in [
      ItemKey.password(service: "other", account: "token"),
      .password(service: service, account: "token", accessGroup: "group"),
      .internetPassword(server: InternetServer("token"), account: "token"),
      ItemKey(kind: ItemKind(rawValue: "own"), attributes: ["username": "token"]),
    ] {
      #expect(try storage.item(for: key) == nil, "\(key)")
    }
    let grouped = CredentialsDirectoryStorage(
      service: service, accessGroup: "group", directory: directory.path)
    let key = ItemKey.password(service: service, account: "token", accessGroup: "group")
    #expect(try grouped.password(for: key) == "s3cret")
    #expect(try grouped.item(for: password("token")) == nil)
  }

  @Test(arguments: [
    "a/b", "../token", "a:b", ".", ".a", "é", "a\n", String(repeating: "a", count: 256),
  ])
  func `a name that no credential can have is refused`(name: String) throws {
    expectError(.invalidArgument, argument: "account") { try storage.item(for: password(name)) }
    #expect(throws: SecureStorageError.self) {
      try storage.item(for: .credentials(service: service, label: name))
    }
  }

  @Test func `writes and removals are refused`() throws {
    try directory.write("s3cret", "token")
    for mode in [SaveMode.add, .update, .addOrReplace] {
      let item = SecureItem(key: password("token"), secret: Secret("new"))
      let error = expectError(.readOnly) { try storage.save(item, mode: mode) }
      #expect(error?.operation == .save)
    }
    let error = expectError(.readOnly) { try storage.remove(password("token")) }
    #expect(error?.operation == .remove)
    #expect(try storage.password(for: password("token")) == "s3cret")
  }

  @Test func `bytes that are not text are not a password`() throws {
    try directory.write(Data([0xFF, 0, 0x0A]), "bytes")
    expectError(.undecodable) { try storage.password(for: password("bytes")) }
    let value = ItemKey.value(service: service, account: "bytes")
    #expect(try storage[value, as: .value([UInt8].self)].read() == [0xFF, 0, 0x0A])
    expectError(.undecodable) {
      try storage[.credentials(service: service, label: "bytes"), as: .credential].read()
    }
  }

  @Test func `reading a pipe or a file that is too large is an error`() throws {
    try directory.write(Data(count: ItemLimits.secretBytes), "largest")
    try directory.write(Data(count: ItemLimits.secretBytes + 1), "larger")
    try #require(mkfifo(directory.path + "/pipe", 0o600) == 0)
    try directory.link("link", to: "largest")
    #expect(try storage.secret(for: password("largest"))?.count == ItemLimits.secretBytes)
    #expect(try storage.secret(for: password("link"))?.count == ItemLimits.secretBytes)
    for name in ["larger", "pipe"] {
      let error = expectError(.other) { try storage.secret(for: password(name)) }
      #expect(error?.message.contains(name) == true, "\(error as Any)")
    }
  }

  @Test func `a missing directory is not a missing item`() {
    let missing = CredentialsDirectoryStorage(
      service: service, directory: directory.path + "/nonexistent")
    let error = expectError(.noStorage) { try missing.item(for: password("token")) }
    #expect(error?.recoverySuggestion?.isEmpty == false)
  }

  @Test func `errors and descriptions contain no secret`() throws {
    try directory.write(#"{"login": "s3cret"}"#, "token")
    let error = try #require(throws: SecureStorageError.self) {
      try storage[.credentials(service: service, label: "token"), as: .credential].read()
    }
    #expect(!"\(error)".contains("s3cret"))
    #expect(!String(reflecting: storage).contains("s3cret"))
  }
}
