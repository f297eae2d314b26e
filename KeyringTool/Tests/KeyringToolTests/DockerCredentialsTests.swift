// SPDX-License-Identifier: Apache-2.0

import Keyring
import KeyringStorage
import KeyringTesting
import KeyringToolCommands
import Testing

@Suite struct DockerCredentialsTests {
  private let storage = InMemoryStorage()
  private let registry = "https://index.docker.io/v1/"

  private func reply(
    _ operation: DockerCredentials.Operation, _ input: String = ""
  ) throws -> String {
    let reply = try DockerCredentials(storage).reply(to: operation, Secret(input))
    return try #require(reply.text)
  }

  private func store(_ user: String, _ secret: String, at server: String) throws {
    let json = #"{"ServerURL":"\#(server)","Username":"\#(user)","Secret":"\#(secret)"}"#
    #expect(try reply(.store, json).isEmpty)
  }

  /// Adds an item of another helper.
  private func restore(_ user: String, _ secret: String) throws {
    let item = SecureItem(
      key: ItemKey(kind: .internetPassword, attributes: ["server": registry]),
      secret: Secret(secret), attributes: ["docker_cli": "1", "username": user])
    try storage.save(item, mode: .add)
  }

  @Test func `a credential is stored, found, replaced and removed`() throws {
    try store("ada", "pa55", at: registry)
    #expect(
      try reply(.get, "\(registry)\n")
        == #"{"Secret":"pa55","ServerURL":"\#(registry)","Username":"ada"}"# + "\n")
    try store("bob", #"ö\"\u0301"#, at: registry)
    #expect(
      try reply(.get, registry)
        == "{\"Secret\":\"ö\\\"\u{301}\",\"ServerURL\":\"\(registry)\",\"Username\":\"bob\"}\n")
    try store("eve", "", at: "ghcr.io")
    #expect(try reply(.list) == #"{"ghcr.io":"eve","\#(registry)":"bob"}"# + "\n")
    #expect(try reply(.erase, registry).isEmpty)
    #expect(try reply(.erase, registry).isEmpty)
    #expect(try reply(.list) == #"{"ghcr.io":"eve"}"# + "\n")
  }

  /// Docker's own helpers are written in Go, whose decoder does so.
  @Test func `the case of a member's name doesn't matter`() throws {
    let input = #"{"serverurl":"ghcr.io","USERNAME":"ada","secret":"pa55"}"#
    #expect(try reply(.store, input).isEmpty)
    #expect(try reply(.get, "ghcr.io").contains("pa55"))
  }

  @Test func `the helper tells its version`() throws {
    let reply = try DockerCredentials(storage, version: "1.2.3").reply(to: .version, Secret(""))
    #expect(reply.text == "docker-credential-keyring 1.2.3\n")
  }

  @Test func `a restored item of another helper is found, replaced and removed`() throws {
    for user in ["ada", "bob"] {
      try restore("ada", "pa55")
      #expect(try reply(.get, registry).contains(#""Username":"ada""#))
      try store(user, "new", at: registry)
      #expect(try reply(.get, registry).contains("\"new\""))
      #expect(try storage.items(matching: ItemQuery()).count == 1)
      #expect(try reply(.erase, registry).isEmpty)
      #expect(try reply(.list) == "{}\n")
    }
  }

  @Test func `only the newest item of a registry is kept`() throws {
    try store("ada", "pa55", at: registry)
    try restore("ada", "new")
    #expect(try reply(.get, registry).contains("\"new\""))
    try store("ada", "newer", at: registry)
    #expect(try reply(.get, registry).contains("\"newer\""))
    #expect(try storage.items(matching: ItemQuery()).count == 1)
  }

  @Test func `a credential that can't be stored removes no other one`() throws {
    try store("ada", "pa55", at: registry)
    try restore("bob", "new")
    let input = #"{"ServerURL":"\#(registry)","Username":"eve","Secret":"newer"}"#
    let full = FaultyStorage(storage)
    full.fail(.save, with: .other)
    #expect(throws: SecureStorageError.self) {
      try DockerCredentials(full).reply(to: .store, Secret(input))
    }
    #expect(try storage.items(matching: ItemQuery()).count == 2)
  }

  /// The item of docker-credential-secretservice, with all of its attributes and its schema.
  private func theirKey(_ user: String, schema: String = "io.docker.Credentials") -> ItemKey {
    ItemKey(
      kind: .password,
      attributes: [
        "label": "Docker Credentials", "server": registry, "username": user, "docker_cli": "1",
      ], schema: schema)
  }

  @Test(arguments: ["ada", "uma"])
  func `the items of docker's own helper become the one of the user`(user: String) throws {
    for user in ["ada", "bob"] { try storage.setPassword("pa55 \(user)", for: theirKey(user)) }
    #expect(try reply(.get, registry).contains(#""Secret":"pa55 bob""#))
    #expect(try reply(.list) == #"{"\#(registry)":"bob"}"# + "\n")
    try store(user, "new", at: registry)
    #expect(try storage.items(matching: ItemQuery()).map(\.key) == [theirKey(user)])
    #expect(try reply(.get, registry).contains("\"new\""))
    #expect(try reply(.erase, registry).isEmpty)
    #expect(try storage.items(matching: ItemQuery()).isEmpty)
  }

  @Test func `a newer item of this helper replaces those of the other one`() throws {
    try storage.setPassword("theirs", for: theirKey("ada"))
    try storage.save(
      SecureItem(
        key: ItemKey(
          kind: ItemKind(rawValue: "docker"), attributes: ["docker_cli": "1", "server": registry]),
        secret: Secret("ours"), attributes: ["username": "ada"]), mode: .add)
    #expect(try reply(.get, registry).contains("\"ours\""))
    try store("bob", "new", at: registry)
    let items = try storage.items(matching: ItemQuery(details: .all))
    #expect(items.map(\.key.kind.rawValue) == ["docker"] && items[0].secret == Secret("new"))
  }

  @Test func `an item that another program has for itself isn't docker's`() throws {
    let key = theirKey("ada", schema: "org.example")
    try storage.setPassword("theirs", for: key)
    let docker = DockerCredentials(AlteringStorage(base: storage, foreign: [key]))
    #expect(throws: DockerCredentials.Failure.self) {
      try docker.reply(to: .get, Secret(registry))
    }
    #expect(try docker.reply(to: .list, Secret("")) == Secret("{}\n"))
    let input = #"{"ServerURL":"\#(registry)","Username":"eve","Secret":"ours"}"#
    #expect(try docker.reply(to: .store, Secret(input)).count == 0)
    #expect(try docker.reply(to: .erase, Secret(registry)).count == 0)
    #expect(try storage.items(matching: ItemQuery()).map(\.key) == [key])
  }

  @Test func `a registry is another one with another path`() throws {
    try store("ada", "pa55", at: registry)
    for other in ["https://index.docker.io", "index.docker.io", registry + "x"] {
      #expect(throws: DockerCredentials.Failure.self) { try reply(.get, other) }
    }
  }

  @Test func `other items aren't docker's`() throws {
    try storage.setPassword("s3cret", for: .password(service: registry, account: "ada"))
    try storage.setPassword(
      "s3cret",
      for: ItemKey(
        kind: .internetPassword, attributes: ["server": registry, "user": "ada"]))
    #expect(try reply(.list) == "{}\n")
    #expect(throws: DockerCredentials.Failure.self) { try reply(.get, registry) }
    #expect(try reply(.erase, registry).isEmpty)
    #expect(try storage.items(matching: ItemQuery()).count == 2)
  }

  @Test(arguments: [
    (DockerCredentials.Operation.get, "nowhere", "credentials not found in native keychain"),
    (.get, " \n", "no credentials server URL"), (.erase, "", "no credentials server URL"),
    (.store, #"{"ServerURL":"","Username":"a","Secret":"b"}"#, "no credentials server URL"),
    (.store, #"{"ServerURL":"a","Username":"","Secret":"b"}"#, "no credentials username"),
    (.store, #"{"ServerURL":"a","Username":"b","Secret":"s3cret""#, "the credentials are not JSON"),
    (.store, #"{"ServerURL":"a","Username":"b"}"#, "the credentials are not JSON"),
  ])
  func `a failure has docker's words`(
    operation: DockerCredentials.Operation, input: String, message: String
  ) {
    let failure = #expect(throws: DockerCredentials.Failure.self) { try reply(operation, input) }
    #expect(failure?.message == message)
  }

  @Test func `a secret that isn't text is refused`() throws {
    try store("ada", "pa55", at: registry)
    let key = try #require(try storage.items(matching: ItemQuery()).first?.key)
    try storage[key, as: .secret].write(Secret(bytes: [0xFF]))
    let failure = #expect(throws: DockerCredentials.Failure.self) { try reply(.get, registry) }
    #expect(failure?.message == "the password is not text")
  }
}
