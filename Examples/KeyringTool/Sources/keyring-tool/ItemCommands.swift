import ArgumentParser
import Keyring
import KeyringToolCommands

struct ListCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List items, without their secrets.")

  @OptionGroup var storage: StorageOptions
  @OptionGroup var items: ItemOptions

  @Flag(help: "Everything that is known of each item.")
  var long = false

  func run() throws {
    var query = try items.query()
    query.details = .metadata
    query.unlocks = !storage.noPrompt
    let listing = ItemListing(try storage.storage.items(matching: query))
    if long {
      print(listing.longLines.joined(separator: "\n\n"))
    } else {
      for line in listing.lines { print(line) }
    }
  }
}

struct GetCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "get", abstract: "Print the secret of an item.")

  @OptionGroup var storage: StorageOptions
  @OptionGroup var item: ItemOptions

  @Flag(help: "Print what is known of the item instead of its secret.")
  var metadata = false

  func run() throws {
    let key = try item.key()
    let details: ItemQuery.Details = metadata ? .metadata : .secret
    guard let item = try storage.storage.item(for: key, details: details) else {
      Terminal.complain("There is no \(key).")
      throw ExitCode.failure
    }
    if let secret = item.secret {
      Terminal.write(secret)
    } else {
      print(ItemListing([item]).longLines.joined())
    }
  }
}

struct SetCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "set", abstract: "Store a secret, read from standard input or asked for.")

  @OptionGroup var storage: StorageOptions
  @OptionGroup var item: ItemOptions

  @Option(help: "The login that goes with a credential.")
  var login: String?

  @Option(help: "The name that keyring managers show.")
  var label: String?

  @Flag(help: "Store every byte of standard input, the newline at its end too.")
  var binary = false

  @Flag(help: "Fail when there is such an item already.")
  var add = false

  func validate() throws {
    if (item.credential == nil) != (login == nil) {
      throw ValidationError("--credential and --login go together.")
    }
  }

  func run() throws {
    let key = try item.key()
    let item = SecureItem(
      key: key, secret: try Terminal.readSecret(isBinary: binary), label: label,
      attributes: login.map { ["username": $0] })
    try storage.storage.save(item, add ? .add : .addOrReplace)
  }
}

struct RemoveCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove", abstract: "Remove an item, or all of a service or server.")

  @OptionGroup var storage: StorageOptions
  @OptionGroup var items: ItemOptions

  @Flag(help: "Remove every item of the service or server.")
  var all = false

  func run() throws {
    let query = all ? try items.query() : .key(try items.key())
    let count = try storage.storage.removeItems(matching: query)
    print("removed \(count)")
  }
}

struct MoveCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "move", abstract: "Move an item, or all of a service or server, elsewhere.")

  @OptionGroup var storage: StorageOptions
  @OptionGroup var items: ItemOptions

  @Option(help: "The label of the collection that they go to; the default one if left out.")
  var to: String?

  @Flag(help: "Replace items that are there already.")
  var replace = false

  @Flag(help: "Move every item of the service or server.")
  var all = false

  func run() throws {
    let query = all ? try items.query() : .key(try items.key())
    if query.namesNothing { throw ValidationError("Give --service or --server.") }
    if to == storage.collection {
      throw ValidationError("The items would not go anywhere.")
    }
    let move = ItemMove(
      from: storage.storage, to: storage.storage(to), replacing: replace)
    print("moved \(try move.run(query))")
  }
}
