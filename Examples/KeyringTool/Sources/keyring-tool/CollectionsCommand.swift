import ArgumentParser
import KeyringToolCommands

struct CollectionsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "collections", abstract: "List collections, make one, or delete one.")

  @OptionGroup var storage: StorageOptions

  @Option(help: "Make a collection with this label; the keyring asks for its password.")
  var create: String?

  @Option(help: "Delete the collection with this label, and all its items.")
  var delete: String?

  func validate() throws {
    if storage.collection != nil { throw ValidationError("Give no --collection here.") }
    if create != nil, delete != nil {
      throw ValidationError("Give --create or --delete, not both.")
    }
  }

  func run() throws {
    let commands = CollectionCommands(storage.storage)
    if let create {
      try commands.create(create)
    } else if let delete {
      try commands.delete(delete)
    } else {
      try Terminal.print(commands.list())
    }
  }
}
