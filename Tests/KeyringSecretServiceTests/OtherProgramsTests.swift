#if SecretService && os(Linux)
import Keyring
import KeyringTesting
import Testing

/// Our items as others see them, and theirs as we do.
@Suite(.inPrivateSession) struct OtherProgramsTests {
  let service = PrivateSession.newService()
  let storage = SecretServiceStorage()

  private var password: Password { Password("token", service: service, storage: storage) }
  private var credentials: Credentials {
    Credentials("account", service: service, storage: storage)
  }

  @Test func leavesAWitness() throws {
    let witness = try #require(PrivateSession.witness)
    let property = Password(witness, service: "swift-keyring-witness", storage: storage)
    try property.projectedValue.write("witness of \(witness)")
    #expect(try property.projectedValue.read() == "witness of \(witness)")
  }

  @Test(arguments: ["s3cret", "hällo wörld 👩‍💻", "\"quotes' $and spaces  ", "two\nlines\n", ""])
  func passwordIsFoundByServiceAndUsername(secret: String) throws {
    try password.projectedValue.write(secret)
    #expect(try SecretTool.lookup(["service": service, "username": "token"]) == secret)
    try password.projectedValue.remove()
    #expect(try SecretTool.lookup(["service": service, "username": "token"]) == nil)
  }

  @Test func passwordHasTheAttributesOfTheDesign() throws {
    try password.projectedValue.write("s3cret")
    #expect(
      try SecretTool.search(["service": service]) == [
        SecretTool.Item(
          label: "\(service): token", secret: "s3cret",
          attributes: [
            "service": service, "username": "token",
            "swift-keyring:key": "password:service,username",
            "xdg:schema": "org.freedesktop.Secret.Generic",
          ])
      ])
  }

  @Test func credentialHasTheAttributesOfTheDesign() throws {
    try credentials.projectedValue.write(Credential(login: "ada", password: "pa55"))
    #expect(
      try SecretTool.search(["service": service]) == [
        SecretTool.Item(
          label: "\(service): account", secret: "pa55",
          attributes: [
            "service": service, "label": "account", "username": "ada",
            "swift-keyring:key": "credentials:label,service",
            "xdg:schema": "org.freedesktop.Secret.Generic",
          ])
      ])
  }

  @Test func credentialWhoseLoginChangesLeavesOneItem() throws {
    for login in ["ada", "ada.lovelace", "ada"] {
      let credential = Credential(login: login, password: "password of \(login)")
      try credentials.projectedValue.write(credential)
      let items = try SecretTool.search(["service": service])
      #expect(items.count == 1)
      #expect(items.first?.attributes["username"] == login)
      #expect(items.first?.secret == credential.password)
    }
  }

  @Test func passwordOfAnotherProgramIsRead() throws {
    try SecretTool.store(
      "theirs", label: "Their label", ["service": service, "username": "token", "extra": "kept"])
    #expect(try password.projectedValue.read() == "theirs")
    #expect(try password.projectedValue.exists())
    let item = try storage.item(for: .password(service: service, account: "token"))
    #expect(item?.label == "Their label")
    #expect(item?.attributes == ["extra": "kept"])
    #expect(try storage.items(matching: .service(service)).count == 1)
  }

  @Test func passwordOfAnotherProgramIsChangedInPlace() throws {
    try SecretTool.store(
      "theirs", label: "Their label", ["service": service, "username": "token", "extra": "kept"])
    let before = try SecretTool.search(["service": service])
    try password.projectedValue.write("ours")
    var expected = before
    expected[0].secret = "ours"
    #expect(try SecretTool.search(["service": service]) == expected)
    #expect(try password.projectedValue.read() == "ours")
    #expect(try password.projectedValue.remove())
    #expect(try SecretTool.search(["service": service]).isEmpty)
  }

  @Test func passwordOfAnotherProgramIsInTheWayOfAnAddition() throws {
    try SecretTool.store("theirs", label: "Theirs", ["service": service, "username": "token"])
    let item = SecureItem(
      key: .password(service: service, account: "token"), secret: Secret("ours"))
    let error = #expect(throws: SecureStorageError.self) { try storage.save(item, .add) }
    #expect(error?.code == .itemAlreadyExists)
    #expect(try password.projectedValue.read() == "theirs")
  }

  @Test func severalItemsOfOtherProgramsAreAmbiguous() throws {
    for number in 1...2 {
      try SecretTool.store(
        "theirs", label: "Item \(number)",
        ["service": service, "username": "token", "number": "\(number)"])
    }
    for operation in [
      { _ = try password.projectedValue.read() }, { try password.projectedValue.write("") },
      { try password.projectedValue.remove() },
    ] as [() throws -> Void] {
      let error = #expect(throws: SecureStorageError.self) { try operation() }
      #expect(error?.code == .ambiguous)
      #expect(
        error?.message.contains("Item 1") == true && error?.message.contains("Item 2") == true)
    }
    #expect(try SecretTool.search(["service": service]).count == 2)
  }

  @Test func ourItemWinsOverThoseOfOtherPrograms() throws {
    try password.projectedValue.write("ours")
    for number in 1...2 {
      try SecretTool.store(
        "theirs", label: "Item \(number)",
        ["service": service, "username": "token", "number": "\(number)"])
    }
    #expect(try password.projectedValue.read() == "ours")
    try password.projectedValue.write("ours again")
    #expect(try password.projectedValue.read() == "ours again")
    #expect(try SecretTool.search(["service": service, "number": "1"]).first?.secret == "theirs")
  }

  @Test func itemOverwrittenByAnotherProgramIsStillOurs() throws {
    try password.projectedValue.write("ours")
    // The subset trap: this replaces our item and drops our private attribute.
    try SecretTool.store("theirs", label: "Theirs", ["service": service, "username": "token"])
    #expect(try password.projectedValue.read() == "theirs")
    try password.projectedValue.write("ours again")
    #expect(try SecretTool.search(["service": service]).map(\.secret) == ["ours again"])
    try password.projectedValue.remove()
    #expect(try SecretTool.search(["service": service]).isEmpty)
  }
}
#endif
