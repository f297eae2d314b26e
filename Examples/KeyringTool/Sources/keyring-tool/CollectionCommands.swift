import ArgumentParser
import Keyring

struct LockCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "lock", abstract: "Lock a collection.")

  @OptionGroup var storage: StorageOptions

  func run() throws { try storage.storage.lock() }
}

struct UnlockCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "unlock", abstract: "Unlock a collection; the keyring asks for its password.")

  @OptionGroup var storage: StorageOptions

  func run() throws { try storage.storage.unlock() }
}

struct CollectionsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "collections", abstract: "List collections, make one, or delete one.")

  @OptionGroup var storage: StorageOptions

  @Option(help: "Make a collection with this label; the keyring asks for its password.")
  var create: String?

  @Option(help: "Delete the collection with this label, and all its items.")
  var delete: String?

  func run() throws {
    let storage = storage.storage
    if let create { try storage.createCollection(labeled: create) }
    if let delete, try !storage.deleteCollection(labeled: delete) {
      throw ValidationError("There is no collection \"\(delete)\".")
    }
    for collection in try storage.collections() {
      let state = collection.isLocked ? "locked" : "unlocked"
      print("\(state)  \(collection.label)\(collection.isDefault ? "  (default)" : "")")
    }
  }
}
