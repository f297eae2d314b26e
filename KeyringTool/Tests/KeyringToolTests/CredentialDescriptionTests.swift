// SPDX-License-Identifier: Apache-2.0

import Keyring
import KeyringStorage
import Testing

@testable import KeyringToolCommands

@Suite struct CredentialDescriptionTests {
  static let whole = CredentialDescription(
    protocol: "https", host: "git.example.org", path: "team/repo.git", username: "ada",
    password: Secret("s3cret"))

  @Test func `every part is read`() throws {
    let description = try CredentialDescription(
      Secret(
        """
        protocol=https
        host=git.example.org
        path=team/repo.git
        username=ada
        password=s3cret

        """))
    #expect(description == Self.whole)
  }

  @Test func `every part is written`() throws {
    #expect(try CredentialDescription(Self.whole.lines()) == Self.whole)
    #expect(try CredentialDescription(username: "ada").lines() == Secret("username=ada\n"))
  }

  @Test func `unknown names are ignored`() throws {
    let description = try CredentialDescription(
      Secret(
        """
        capability[]=state
        protocol=https
        wwwauth[]=Basic realm="example"
        host=git.example.org
        newer=\u{FF}

        """))
    #expect(description == CredentialDescription(protocol: "https", host: "git.example.org"))
  }

  @Test func `the value of an unknown name need not be text`() throws {
    #expect(
      try CredentialDescription(Secret(bytes: Array("state=".utf8) + [0xFF]))
        == CredentialDescription())
  }

  @Test func `reading ends at the empty line`() throws {
    let input = Secret("host=one\n\nhost=two\n")
    #expect(try CredentialDescription(input) == CredentialDescription(host: "one"))
  }

  @Test func `the last line needs no newline`() throws {
    #expect(try CredentialDescription(Secret("host=one")) == CredentialDescription(host: "one"))
  }

  @Test(arguments: [
    "", " ", "two words ", "a=b==", #""'\$"#, "pässwörd 👩‍💻", "\u{301}combining", "carriage\r",
  ])
  func `every password that fits on a line stays unchanged`(password: String) throws {
    let description = try CredentialDescription(Secret("password=\(password)\n"))
    #expect(description == CredentialDescription(password: Secret(password)))
    #expect(try description.lines() == Secret("password=\(password)\n"))
  }

  @Test func `a password need not be text`() throws {
    let line = Secret(bytes: Array("password=".utf8) + [0xE4, 0x0A])
    #expect(try CredentialDescription(line).lines() == line)
  }

  @Test(
    arguments: [
      ("s3cret", .malformedLine), ("host=a\0b", .unwritableValue("host")),
      ("password=a\0b", .unwritableValue("password")), ("url=s3cret", .malformedURL),
      ("url=://host", .malformedURL), ("url=https://a%0Ab", .unwritableValue("host")),
    ] as [(String, HelperFailure)])
  func `malformed input is refused without showing the secret`(
    input: String, failure: HelperFailure
  ) {
    #expect(throws: failure) { try CredentialDescription(Secret(input)) }
    #expect(!failure.line.contains("s3cret") && !failure.line.contains("\n"))
  }

  @Test func `a username has to be text`() {
    #expect(throws: HelperFailure.notText("username")) {
      try CredentialDescription(Secret(bytes: Array("username=".utf8) + [0xE4]))
    }
  }

  @Test(arguments: ["two\nlines", "nul\0"])
  func `a value that does not fit on a line is not written`(value: String) {
    #expect(throws: HelperFailure.unwritableValue("password")) {
      try CredentialDescription(username: "ada", password: Secret(value)).lines()
    }
    #expect(throws: HelperFailure.unwritableValue("username")) {
      try CredentialDescription(username: value).lines()
    }
  }
}

@Suite struct CredentialURLTests {
  @Test(
    arguments: [
      ("https://git.example.org", .init(protocol: "https", host: "git.example.org")),
      ("https://git.example.org:8443/", .init(protocol: "https", host: "git.example.org:8443")),
      (
        "https://ada:a%40b%3Ac@git.example.org//team/repo.git/",
        .init(
          protocol: "https", host: "git.example.org", path: "team/repo.git", username: "ada",
          password: Secret("a@b:c"))
      ),
      (
        "https://a%zz:b%00%4@c%",
        .init(protocol: "https", host: "c%", username: "a%zz", password: Secret("b%00%4"))
      ),
      ("smtp://ada%20l@[::1]:25", .init(protocol: "smtp", host: "[::1]:25", username: "ada l")),
      ("https://h/a@b:c", .init(protocol: "https", host: "h", path: "a@b:c")),
      ("https://a:@h", .init(protocol: "https", host: "h", username: "a", password: Secret(""))),
    ] as [(String, CredentialDescription)])
  func `a URL is split into its parts`(url: String, description: CredentialDescription) throws {
    #expect(try CredentialDescription(Secret("url=\(url)")) == description)
  }

  @Test func `a URL replaces the lines before it`() throws {
    let description = try CredentialDescription(Secret("username=ada\nurl=https://h\npath=p\n"))
    #expect(description == CredentialDescription(protocol: "https", host: "h", path: "p"))
  }

  @Test(
    arguments: [
      ("h", "h", nil), ("h:8443", "h", 8443), ("[::1]", "[::1]", nil), ("[::1]:80", "[::1]", 80),
      ("h:", "h:", nil), ("h:x", "h:x", nil), ("h:+1", "h:+1", nil), ("h:65536", "h:65536", nil),
      (":1", ":1", nil),
    ] as [(String, String, UInt16?)])
  func `a host may have a port`(host: String, name: String, port: UInt16?) {
    let description = CredentialDescription(protocol: "https", host: host)
    let server = InternetServer(name, port: port, protocol: .https)
    #expect(description.place == ItemKey.internetPassword(server: server).attributes)
  }

  @Test func `a place needs a protocol, and a host or a path`() {
    #expect(CredentialDescription(protocol: "https").place == nil)
    #expect(CredentialDescription(host: "h").place == nil)
    #expect(CredentialDescription(protocol: "cert", host: "").place == nil)
    #expect(
      CredentialDescription(protocol: "cert", host: "", path: "p").place
        == ["protocol": "cert", "server": "", "object": "p"])
    #expect(CredentialDescription(protocol: "", host: "h").place == nil)
  }
}
