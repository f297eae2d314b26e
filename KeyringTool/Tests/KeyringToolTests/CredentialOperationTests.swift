// SPDX-License-Identifier: Apache-2.0

import Keyring
import KeyringStorage
import KeyringTesting
import Testing

@testable import KeyringToolCommands

@Suite struct CredentialOperationTests {
  let storage = InMemoryStorage()

  /// Runs an operation on lines, which are separated by spaces here.
  @discardableResult
  private func run(_ operation: CredentialOperation, _ lines: String) throws -> String? {
    let input = lines.split(separator: " ").joined(separator: "\n")
    let answer = try operation.run(CredentialDescription(Secret(input)), in: storage)
    return try answer.map {
      try #require($0.lines().text).split(separator: "\n").joined(separator: " ")
    }
  }

  /// Stores a password of an account at https://h.
  private func store(_ username: String, _ password: String, _ more: String = "") throws {
    try run(.store, "protocol=https host=h username=\(username) password=\(password) \(more)")
  }

  @Test func `the stored item is an internet password`() throws {
    try run(.store, "protocol=https host=h:8443 path=p username=ada password=a")
    let server = InternetServer("h", port: 8443, path: "p", protocol: .https)
    let key = ItemKey.internetPassword(server: server, account: "ada")
    #expect(try storage.password(for: key.with(schema: "org.git.Password")) == "a")
    #expect(try storage.items(matching: ItemQuery()).count == 1)
  }

  @Test func `a description without a match has no answer`() throws {
    try store("ada", "a")
    for description in [
      "", "protocol=https", "host=h", "protocol=http host=h", "protocol=https host=i",
      "protocol=https host=h username=bob", "protocol=https host=h username=",
      "protocol=https host= path=", "protocol=cert host= path=/p",
    ] {
      #expect(try run(.get, description) == nil, "\(description)")
    }
  }

  @Test func `the newest account answers a description without a username`() throws {
    try store("ada", "a")
    try store("bob", "b")
    #expect(try run(.get, "url=https://h") == "username=bob password=b")
    try store("ada", "changed")
    #expect(try run(.get, "url=https://h") == "username=ada password=changed")
    #expect(try run(.get, "url=https://bob@h") == "username=bob password=b")
  }

  @Test func `each port and each path is a server of its own`() throws {
    try store("ada", "plain")
    try store("ada", "repository", "path=p")
    try run(.store, "protocol=https host=h:8443 username=ada password=port")
    #expect(try run(.get, "url=https://h") == "username=ada password=plain")
    #expect(try run(.get, "url=https://h/p") == "username=ada password=repository")
    #expect(try run(.get, "url=https://h/q") == nil)
    #expect(try run(.get, "url=https://h:8443") == "username=ada password=port")
    try run(.erase, "url=https://h")
    #expect(try run(.get, "url=https://h") == nil)
    #expect(try run(.get, "url=https://h/p") == "username=ada password=repository")
    #expect(try run(.get, "url=https://h:8443") == "username=ada password=port")
  }

  @Test(arguments: [
    "protocol=https host=h username=ada", "protocol=https host=h password=a",
    "protocol=https username=ada password=a", "host=h username=ada password=a",
    "protocol=cert host= username= password=a",
    "protocol=https host=h username=ada password=a ephemeral=1",
    "protocol=https host=h authtype=Bearer credential=t ephemeral=true",
    "protocol=https host=h credential=t",
  ])
  func `an incomplete credential is not stored`(description: String) throws {
    #expect(try run(.store, description) == nil)
    #expect(try storage.items(matching: ItemQuery()).isEmpty)
  }

  /// Git asks for the pass phrase of a certificate or a key this way, and for a server's file by its path.
  @Test(arguments: [
    ("protocol=cert host= path=/c.pem", ""), ("protocol=file host= path=srv/x.git", "ada"),
    ("protocol=https host=h", ""),
  ])
  func `an empty host or username is kept`(place: String, username: String) throws {
    try run(.store, "\(place) username=\(username) password=a")
    #expect(try run(.get, "\(place) username=\(username)") == "username=\(username) password=a")
    #expect(try run(.get, "\(place)") == "username=\(username) password=a")
    #expect(try run(.get, "\(place)2 username=\(username)") == nil)
    try run(.store, "\(place) username=\(username) password=b")
    #expect(try storage.items(matching: ItemQuery()).count == 1)
    try run(.erase, "\(place) username=\(username) password=a")
    #expect(try run(.get, "\(place)") != nil)
    try run(.erase, "\(place) username=\(username) password=b")
    #expect(try run(.get, "\(place)") == nil)
  }

  @Test func `another program's item with empty parts is found, changed and erased`() throws {
    let key = ItemKey(
      kind: .internetPassword,
      attributes: ["protocol": "https", "server": "h", "user": "ada", "object": "", "port": ""])
    try storage.setPassword("a", for: key)
    #expect(try run(.get, "protocol=https host=h") == "username=ada password=a")
    try store("ada", "b")
    #expect(try storage.items(matching: ItemQuery()).map(\.key) == [key])
    try run(.erase, "protocol=https host=h username=ada password=b")
    #expect(try storage.items(matching: ItemQuery()).isEmpty)
  }

  /// Git before 2.46 doesn't know them.
  @Test func `a credential that isn't a password is kept for git that knows it`() throws {
    try store("ada", "a")
    let token = "authtype=Bearer credential=t"
    try run(.store, "capability[]=authtype protocol=https host=h \(token) ephemeral=0")
    #expect(
      try run(.get, "capability[]=authtype protocol=https host=h")
        == "capability[]=authtype \(token)")
    #expect(try run(.get, "protocol=https host=h") == "username=ada password=a")
    try run(.store, "capability[]=authtype protocol=https host=h authtype=Bearer credential=u")
    #expect(try storage.items(matching: ItemQuery()).count == 2)
    try run(.erase, "capability[]=authtype protocol=https host=h \(token)")
    #expect(try storage.items(matching: ItemQuery()).count == 2)
    try run(.erase, "capability[]=authtype protocol=https host=h authtype=Bearer credential=u")
    #expect(
      try run(.get, "capability[]=authtype protocol=https host=h") == "username=ada password=a")
  }

  @Test func `a token without a user doesn't replace that of a user`() throws {
    let place = "capability[]=authtype protocol=https host=h authtype=Bearer"
    try run(.store, "\(place) username=ada credential=theirs")
    try run(.store, "\(place) credential=ours")
    #expect(
      try run(.get, "\(place) username=ada")
        == "capability[]=authtype authtype=Bearer credential=theirs username=ada")
    #expect(try storage.items(matching: ItemQuery()).count == 2)
    try run(.store, "\(place) credential=new")
    #expect(try storage.items(matching: ItemQuery()).count == 2)
  }

  @Test func `a token of another program with empty parts is replaced`() throws {
    let key = ItemKey(
      kind: .gitCredential,
      attributes: ["protocol": "https", "server": "h", "authtype": "Bearer", "user": ""])
    try storage.setPassword("old", for: key)
    try run(
      .store, "capability[]=authtype protocol=https host=h authtype=Bearer credential=new")
    #expect(try storage.items(matching: ItemQuery()).map(\.key) == [key])
    #expect(try storage.password(for: key) == "new")
  }

  /// Earlier versions and "set" store items without git's schema.
  @Test func `items with and without git's schema never differ`() throws {
    let keys = [ada, ada.with(schema: "org.git.Password")]
    try storage.setPassword("old", for: ada)
    #expect(try run(.get, "url=https://h") == "username=ada password=old")
    try store("ada", "a")
    #expect(try storage.items(matching: ItemQuery()).map(\.key) == [ada])
    #expect(try storage.password(for: ada) == "a")
    for key in keys.reversed() {
      try storage.setPassword("newest", for: key)
      #expect(try run(.get, "url=https://h") == "username=ada password=newest")
      try store("ada", "b")
      #expect(try keys.map { try storage.password(for: $0) } == ["b", "b"])
    }
    #expect(try storage.items(matching: ItemQuery()).count == 2)
    try storage.setPassword("new", for: ada)
    try run(.erase, "url=https://ada:b@h")
    #expect(try storage.items(matching: ItemQuery()).map(\.key) == [ada])
    try run(.erase, "url=https://ada:new@h")
    #expect(try storage.items(matching: ItemQuery()).isEmpty)
  }

  @Test func `an item that another program has for itself isn't git's`() throws {
    let key = ada.with(schema: "org.example.Mail")
    try storage.setPassword("theirs", for: key)
    let foreign = AlteringStorage(base: storage, foreign: [key])
    for operation in [CredentialOperation.get, .store, .erase] {
      let description = try CredentialDescription(Secret("url=https://ada:a@h"))
      #expect(try operation.run(description, in: foreign)?.password == nil)
      #expect(try storage.password(for: key) == "theirs")
    }
    #expect(try storage.items(matching: ItemQuery()).map(\.key) == [key])
  }

  @Test func `erase removes the account`() throws {
    try store("ada", "a")
    try store("bob", "b")
    try run(.erase, "url=https://bob@h")
    #expect(try run(.get, "url=https://h") == "username=ada password=a")
    try run(.erase, "url=https://h")
    #expect(try storage.items(matching: ItemQuery()).isEmpty)
  }

  @Test func `erase keeps an account that has another password`() throws {
    try store("ada", "new")
    try run(.erase, "url=https://ada:old@h")
    #expect(try run(.get, "url=https://ada@h") == "username=ada password=new")
    try run(.erase, "url=https://ada:new@h")
    #expect(try storage.items(matching: ItemQuery()).isEmpty)
  }

  // MARK: The lines that git-credential-libsecret puts below a password

  private let ada = ItemKey.internetPassword(
    server: InternetServer("h", protocol: .https), account: "ada")
  private let lines = "password_expiry_utc=1684189401\noauth_refresh_token=xyzzy"

  @Test func `the fields of another helper are not part of the password`() throws {
    try storage.setPassword("a\n\(lines)", for: ada)
    #expect(
      try run(.get, "url=https://h")
        == "username=ada password=a password_expiry_utc=1684189401 oauth_refresh_token=xyzzy")
    try run(.erase, "url=https://ada:a@h")
    #expect(try storage.items(matching: ItemQuery()).isEmpty)
  }

  /// Git stores a password again after each success, before version 2.41 and since.
  @Test func `storing the same password again changes nothing`() throws {
    try storage.setPassword("a\n\(lines)", for: ada)
    let faulty = FaultyStorage(storage)
    faulty.fail(.save, with: .accessDenied)
    for more in ["", "password_expiry_utc=1684189401\noauth_refresh_token=xyzzy"] {
      let description = try CredentialDescription(Secret("url=https://ada:a@h\n\(more)\n"))
      #expect(try CredentialOperation.store.run(description, in: faulty) == nil)
    }
    #expect(try storage.password(for: ada) == "a\n\(lines)")
  }

  /// The time at which the old password expires says nothing about the new one.
  @Test func `a new password keeps the refresh token`() throws {
    try storage.setPassword("a\n\(lines)", for: ada)
    try store("ada", "b")
    #expect(try storage.password(for: ada) == "b\noauth_refresh_token=xyzzy")
  }

  @Test func `the fields of a description are stored`() throws {
    let ada = ada.with(schema: "org.git.Password")
    try store("ada", "a", "password_expiry_utc=1 oauth_refresh_token=one")
    #expect(
      try storage.password(for: ada) == "a\npassword_expiry_utc=1\noauth_refresh_token=one")
    try store("ada", "a", "password_expiry_utc=2")
    #expect(
      try storage.password(for: ada) == "a\npassword_expiry_utc=2\noauth_refresh_token=one")
    try store("ada", "b", "password_expiry_utc=3 oauth_refresh_token=two")
    #expect(
      try run(.get, "url=https://h")
        == "username=ada password=b password_expiry_utc=3 oauth_refresh_token=two")
  }

  /// Another value of several lines was not a password for git, and a new password replaces it.
  @Test func `other lines below a password are not kept`() throws {
    try storage.setPassword("a\nmore\noauth_refresh_token=xyzzy", for: ada)
    try store("ada", "a")
    #expect(try storage.password(for: ada) == "a")
  }

  @Test func `a password of several lines is refused`() throws {
    try storage.setPassword("a\nhost=elsewhere", for: ada)
    #expect(throws: HelperFailure.unwritableValue("password")) {
      try run(.get, "url=https://h")
    }
  }

  @Test func `a failure of the storage is passed on`() throws {
    try storage.lock()
    for operation in [CredentialOperation.get, .store, .erase] {
      let failure = #expect(throws: HelperFailure.self) {
        try run(operation, "url=https://ada:s3cret@h")
      }
      #expect(failure?.line.hasPrefix("The keyring is locked.") == true)
    }
  }
}
