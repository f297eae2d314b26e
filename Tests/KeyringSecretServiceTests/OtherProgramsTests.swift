#if SecretService && os(Linux)
import Foundation
import Keyring
import Testing

/// Passwords that we and another program both use.
@Suite(.inPrivateSession) struct OtherProgramsTests {
  let service = PrivateSession.newService()
  let storage = SecretServiceStorage()

  private var password: SecureProperty<String> {
    Password("token", service: service, storage: storage).projectedValue
  }

  private func items() throws -> [PythonSecretStorage.Item] {
    try PythonSecretStorage.items(["service": service])
  }

  @Test func leavesAWitness() throws {
    let witness = try #require(PrivateSession.witness)
    let property = Password<String?>(witness, service: "swift-keyring-witness", storage: storage)
    try property.projectedValue.write("witness of \(witness)")
    #expect(try property.projectedValue.read() == "witness of \(witness)")
  }

  // MARK: Theirs

  @Test(arguments: [any OtherProgram].all)
  func theirsIsReadChangedInPlaceAndRemoved(program: any OtherProgram) throws {
    try program.set("theirs", service: service, username: "token")
    #expect(try password.read() == "theirs")
    #expect(try password.exists())

    var expected = try items().map(\.withoutSchema)
    try password.write("öurs")
    expected[0].secret = Data("öurs".utf8)
    #expect(try items().map(\.withoutSchema) == expected)
    #expect(try program.get(service: service, username: "token") == "öurs")

    try program.set("theirs again", service: service, username: "token")
    #expect(try items().count == 1)
    #expect(try password.read() == "theirs again")

    #expect(try password.remove())
    #expect(try program.get(service: service, username: "token") == nil)
    #expect(try items().isEmpty)
  }

  @Test(arguments: [any OtherProgram].all)
  func theirsThatTheyRemoveIsGone(program: any OtherProgram) throws {
    try program.set("theirs", service: service, username: "token")
    try password.write("ours")
    try program.remove(service: service, username: "token")
    #expect(try password.read() == nil)
    #expect(try !password.exists())
  }

  @Test(arguments: [any OtherProgram].all)
  func theirsIsInTheWayOfAnAddition(program: any OtherProgram) throws {
    try program.set("theirs", service: service, username: "token")
    let key = ItemKey.password(service: service, account: "token")
    let error = #expect(throws: SecureStorageError.self) {
      try storage.setPassword("ours", for: key, mode: .add)
    }
    #expect(error?.code == .itemAlreadyExists)
    #expect(try password.read() == "theirs")
  }

  @Test func theirsKeepsItsLabelAndAttributes() throws {
    try SecretTool.store(
      "theirs", label: "Their label", ["service": service, "username": "token", "extra": "kept"])
    let key = ItemKey.password(service: service, account: "token")
    for secret in ["theirs", "ours"] {
      try password.write(secret)
      let item = try storage.item(for: key)
      #expect(item?.label == "Their label")
      #expect(item?.attributes == ["extra": "kept"])
    }
    #expect(try storage.items(matching: .service(service)).map(\.key) == [key])
  }

  // MARK: Ours

  @Test(arguments: [any OtherProgram].all)
  func oursIsReadAndRemoved(program: any OtherProgram) throws {
    for secret in ["ours", "hällo wörld 👩‍💻", "\"quotes' $and spaces  ", "two\nlines\n", ""] {
      try password.write(secret)
      #expect(try program.get(service: service, username: "token") == secret)
    }
    try program.remove(service: service, username: "token")
    #expect(try password.read() == nil)
    #expect(try items().isEmpty)
  }

  @Test(arguments: [SecretTool(), PythonSecretStorage()] as [any OtherProgram])
  func oursThatTheyReplaceIsStillFound(program: any OtherProgram) throws {
    try password.write("ours")
    // The subset trap of gnome-keyring: their item takes the place of ours, with their attributes.
    try program.set("theirs", service: service, username: "token")
    #expect(try items().map(\.text) == ["theirs"])
    #expect(try password.read() == "theirs")
    try password.write("ours again")
    #expect(try items().map(\.text) == ["ours again"])
    #expect(try password.remove())
    #expect(try items().isEmpty)
  }

  @Test func oursThatTheyChangeInPlaceStaysOurs() throws {
    try password.write("ours")
    var expected = try items()
    try PythonSecretStorage.change(["service": service, "username": "token"], to: "theirs")
    expected[0].secret = Data("theirs".utf8)
    #expect(try items() == expected)
    #expect(try password.read() == "theirs")
  }

  // What keyring 23.9.3 replaces by has its attribute "application", which our item has not, so
  // that gnome-keyring 42.1 creates a second item. keyring reads and removes the one changed last,
  // by whole seconds; we always our own, and our next save removes theirs.
  @Test func oursIsNotWhatPythonKeyringReplaces() throws {
    let keyring = PythonKeyring()
    try password.write("ours")
    let ours = try items()
    try keyring.set("theirs", service: service, username: "token")
    let all = try items()
    #expect(all.count == 2)
    #expect(all.contains(ours[0]))
    #expect(all.contains { $0.text == "theirs" && $0.attributes["application"] != nil })
    #expect(try password.read() == "ours")

    try password.write("ours again")
    #expect(try items().map(\.text) == ["ours again"])
    #expect(try password.read() == "ours again")
    #expect(try keyring.get(service: service, username: "token") == "ours again")

    // What was removed stays removed: theirs does not come to light in its place.
    try keyring.set("theirs", service: service, username: "token")
    #expect(try items().count == 2)
    #expect(try password.remove())
    #expect(try items().isEmpty)
    #expect(try password.read() == nil)
    #expect(try keyring.get(service: service, username: "token") == nil)
  }
}
#endif
