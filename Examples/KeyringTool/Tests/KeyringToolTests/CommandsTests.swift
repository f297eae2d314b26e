import Keyring
import KeyringToolCommands
import Testing

@Suite struct CommandsTests {
  private let source = InMemoryStorage()
  private let key = ItemKey.password(service: "service", account: "account")

  @Test func listingNamesItemsAndHidesSecrets() throws {
    try source.setPassword("s3cret", for: key)
    try source.setCredential(
      Credential(login: "ada", password: "s3cret"),
      for: .credentials(service: "service", label: "mine"))
    let items = try source.items(matching: ItemQuery(details: .all))
    let listing = ItemListing(items)
    #expect(listing.lines.count == 2)
    #expect(listing.lines[0].hasPrefix("credentials  label=mine service=service"))
    #expect(listing.lines[1].hasPrefix("password     service=service username=account"))
    #expect(listing.longLines[0].contains("attributes: username=ada"))
    #expect(!(listing.lines + listing.longLines).contains { $0.contains("s3cret") })
    #expect(ItemListing([]).lines.isEmpty)
  }

  @Test func moveTakesEverythingAlong() throws {
    try source.save(
      SecureItem(
        key: key, secret: Secret("s3cret"), label: "A label", attributes: ["note": "kept"]), .add)
    let destination = InMemoryStorage()
    let move = ItemMove(from: source, to: destination, replacing: false)
    #expect(try move.run(.service("service")) == 1)
    let item = try destination.item(for: key)
    #expect(item?.secret == Secret("s3cret"))
    #expect(item?.label == "A label" && item?.attributes == ["note": "kept"])
    #expect(try !source.exists(key))
    #expect(try move.run(.service("service")) == 0)
  }

  @Test func moveRefusesToReplaceBeforeItWritesAnything() throws {
    let other = ItemKey.password(service: "service", account: "other")
    let destination = InMemoryStorage()
    try source.setPassword("first", for: key)
    try source.setPassword("second", for: other)
    try destination.setPassword("theirs", for: key)
    let error = #expect(throws: SecureStorageError.self) {
      try ItemMove(from: source, to: destination, replacing: false).run(.service("service"))
    }
    #expect(error?.code == .itemAlreadyExists)
    #expect(try destination.password(for: key) == "theirs")
    #expect(try !destination.exists(other))
    #expect(try source.service("service").accounts() == ["account", "other"])

    let replacing = ItemMove(from: source, to: destination, replacing: true)
    #expect(try replacing.run(.service("service")) == 2)
    #expect(try destination.password(for: key) == "first")
  }

  @Test func sourceStaysWhenTheDestinationFails() throws {
    try source.setPassword("s3cret", for: key)
    let destination = InMemoryStorage()
    try destination.lock()
    #expect(throws: SecureStorageError.self) {
      try ItemMove(from: source, to: destination, replacing: false).run(.key(key))
    }
    #expect(try source.password(for: key) == "s3cret")
  }

  @Test(arguments: [
    ("s3cret\n", false, "s3cret"), ("s3cret\n\n", false, "s3cret\n"), ("s3cret", false, "s3cret"),
    ("s3cret\n", true, "s3cret\n"), ("", false, ""), ("\n", false, ""),
  ])
  func oneNewlineAtTheEndIsNoPartOfASecret(input: String, isBinary: Bool, secret: String) {
    #expect(SecretText.secret(from: Array(input.utf8), isBinary: isBinary) == Secret(secret))
  }

  @Test func onlyAPersonGetsANewline() {
    let secret = Secret("s3cret")
    #expect(SecretText.output(secret, toTerminal: false) == Array("s3cret".utf8))
    #expect(SecretText.output(secret, toTerminal: true) == Array("s3cret\n".utf8))
  }
}
