import ArgumentParser
import KeyringToolCommands

struct MoveCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "move",
    abstract: "Move an item, or all of a service or server, to another collection.",
    discussion: """
      Everything is written and read back before anything is removed. A move that was interrupted \
      is completed by running it again.
      """)

  @OptionGroup var storage: StorageOptions
  @OptionGroup var items: ItemOptions

  @Option(help: "The label of the collection that they go to, or \"session\"; else the default.")
  var to: String?

  @Flag(help: "Replace items that are there already.")
  var replace = false

  @Flag(help: "Move every item of the service or server.")
  var all = false

  func validate() throws {
    if to == storage.collection {
      throw ValidationError("Give --to or --collection: the items would not go anywhere.")
    }
  }

  func run() throws {
    let move = ItemMove(from: storage.storage, to: storage.storage(to), replacing: replace)
    try Terminal.print(["moved \(move.run(items.selection().query(all: all)))"])
  }
}
