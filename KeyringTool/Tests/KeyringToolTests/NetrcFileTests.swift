// SPDX-License-Identifier: Apache-2.0

import Keyring
import KeyringStorage
import KeyringToolCommands
import Testing

@Suite struct NetrcFileTests {
  private let storage = InMemoryStorage()

  private func store(
    _ password: String, _ host: String, account: String? = nil, port: UInt16? = nil,
    path: String? = nil, protocol: InternetServer.Scheme? = nil, domain: String? = nil
  ) throws {
    let server = InternetServer(
      host, port: port, path: path, securityDomain: domain, protocol: `protocol`)
    try storage.setPassword(password, for: .internetPassword(server: server, account: account))
  }

  private func text(_ machines: String...) throws -> String? {
    var file = NetrcFile()
    for machine in machines {
      try file.add(try #require(NetrcFile.Machine(machine)), from: storage)
    }
    return file.content.text
  }

  @Test func `each server has a line`() throws {
    try store("pa55#\"ö", "a.example.org", account: "ada")
    try store("s3cret", "b.example.org")
    #expect(
      try text("a.example.org", "b.example.org") == """
        machine a.example.org login ada password pa55#"ö
        machine b.example.org login token password s3cret

        """)
  }

  @Test func `the account decides between several passwords`() throws {
    try store("first", "example.org", account: "ada")
    try store("second", "example.org", account: "bob")
    let failure = #expect(throws: ToolFailure.self) { try text("example.org") }
    #expect(failure?.message.contains("2 passwords") == true && failure?.status == .ambiguous)
    #expect(
      try text("example.org=bob") == "machine example.org login bob password second\n")
  }

  @Test func `the password of another port, path or protocol isn't used`() throws {
    try store("port", "example.org", account: "ada", port: 8443)
    try store("path", "example.org", account: "ada", path: "/git", protocol: .https)
    try store("http", "example.org", account: "ada", protocol: .http)
    try store("mail", "example.org", account: "ada", protocol: "imap")
    for machine in ["example.org", "example.org=ada", "https://example.org/", "example.org:444"] {
      let failure = #expect(throws: ToolFailure.self) { try text(machine) }
      #expect(failure?.status == .notFound)
      #expect(failure?.recoverySuggestion.contains("list --server example.org") == true)
    }
    // What is named is used.
    for (machine, password) in [
      ("example.org:8443", "port"), ("example.org/git", "path"), ("http://example.org", "http"),
      ("http://example.org:80=ada", "http"), ("imap://example.org", "mail"),
      ("https://example.org:443/git/=ada", "path"),
    ] {
      #expect(
        try text(machine) == "machine example.org login ada password \(password)\n", "\(machine)")
    }
    try store("general", "example.org", account: "ada", port: 443, protocol: .https)
    #expect(try text("example.org") == "machine example.org login ada password general\n")
  }

  @Test(arguments: ["example.org", "example.org=ada"])
  func `one of several passwords of an account fits best`(machine: String) throws {
    for domain in ["one", "two"] {
      try store("https", "example.org", account: "ada", protocol: .https, domain: domain)
    }
    let failure = #expect(throws: ToolFailure.self) { try text(machine) }
    #expect(failure?.recoverySuggestion.contains("remove all but one") == true)
    try store("realm", "example.org", account: "ada", domain: "one")
    #expect(try text(machine) == "machine example.org login ada password realm\n")
    try store("simple", "example.org", account: "ada")
    #expect(try text(machine) == "machine example.org login ada password simple\n")
  }

  /// "set" and git's helper store the same password with different schemas.
  @Test(arguments: ["example.org", "https://example.org"])
  func `the newest password counts, whatever its schema`(machine: String) throws {
    let key = ItemKey.internetPassword(
      server: InternetServer("example.org", protocol: .https), account: "ada")
    for key in [key, key.with(schema: "org.git.Password")] {
      try storage.setPassword("\(key)".contains("schema") ? "git" : "set", for: key)
      let newest = try storage.password(for: key) ?? ""
      #expect(try text(machine) == "machine example.org login ada password \(newest)\n")
    }
  }

  @Test func `an item that another program has for itself isn't used`() throws {
    let key = ItemKey.internetPassword(server: InternetServer("example.org"), account: "ada")
      .with(schema: "org.qt.keychain")
    try storage.setPassword("theirs", for: key)
    var file = NetrcFile()
    let machine = try #require(NetrcFile.Machine("example.org"))
    #expect(throws: ToolFailure.self) {
      try file.add(machine, from: AlteringStorage(base: storage, foreign: [key]))
    }
  }

  @Test func `the lines that git's helper puts below a password aren't part of it`() throws {
    let more = "password_expiry_utc=1684189401\noauth_refresh_token=xyzzy"
    try store("pa55\n\(more)", "example.org", account: "ada", protocol: .https)
    #expect(try text("example.org") == "machine example.org login ada password pa55\n")
  }

  @Test func `a missing password is a failure`() throws {
    try store("s3cret", "example.org", account: "ada")
    for machine in ["example.com", "example.org=bob", "example"] {
      let failure = #expect(throws: ToolFailure.self) { try text(machine) }
      #expect(failure?.status == .notFound)
    }
  }

  @Test(arguments: [
    "two words", "", "line\nmachine evil", "\"quoted", "#comment", "a\tb", "\u{7F}", "a\\b",
    "a\nb\noauth_refresh_token=c",
  ])
  func `a password that could be misread is refused`(password: String) throws {
    try store(password, "example.org", account: "ada")
    let failure = #expect(throws: ToolFailure.self) { try text("example.org") }
    #expect(failure?.message.contains("can't be in a .netrc file") == true)
    #expect(password.isEmpty || failure?.description.contains(password) == false)
  }

  @Test func `a password that curl or Python can't read is refused with the reason`() throws {
    let prefix = "machine example.org login ada password "
    let longest = String(repeating: "x", count: 4094 - prefix.utf8.count)
    try store(longest, "example.org", account: "ada")
    #expect(try text("example.org") == prefix + longest + "\n")
    let key = ItemKey.internetPassword(server: InternetServer("example.org"), account: "ada")
    for (secret, reason) in [
      (Secret(longest + "x"), "4095 bytes"), (Secret(bytes: [0x63, 0xE9]), "UTF-8"),
      (Secret("a\u{A0}b"), "without spaces"),
    ] {
      try storage[key, as: .secret].write(secret)
      let failure = #expect(throws: ToolFailure.self) { try text("example.org") }
      #expect(failure?.recoverySuggestion.contains(reason) == true)
    }
  }

  @Test func `the case of a host doesn't matter`() throws {
    try store("one", "Example.org", account: "Ada")
    let line = "login Ada password one\n"
    #expect(try text("example.org") == "machine example.org \(line)")
    #expect(try text("example.org=Ada") == "machine example.org \(line)")
    #expect(
      try text("EXAMPLE.org") == "machine example.org \(line)machine EXAMPLE.org \(line)")
    #expect(throws: ToolFailure.self) { try text("example.org=ada") }
  }

  @Test(arguments: [
    "", "=", "=ada", "example.org=", "example.org:", "example.org:65536", "https://", "/path",
  ])
  func `a server needs a name`(text: String) {
    #expect(NetrcFile.Machine(text) == nil)
  }
  @Test(arguments: [
    ("::1", "::1", nil), ("[::1]", "[::1]", nil), ("[::1]:8443", "[::1]", 8443),
    ("https://[fe80::1]:8443/git", "[fe80::1]", 8443 as UInt16?),
  ])
  func `an address can have colons`(text: String, host: String, port: UInt16?) throws {
    try store("s3cret", host, port: port, path: text.hasSuffix("git") ? "git" : nil)
    #expect(try self.text(text) == "machine \(host) login token password s3cret\n")
  }
}
