import ArgumentParser
import Keyring

/// The options that select the collection, and that control whether it may ask.
struct StorageOptions: ParsableArguments {
  @Option(
    help: "The label of the collection, or \"session\" for the one that is deleted at logout.")
  var collection: String?

  @Flag(help: "Fail instead of letting the keyring ask for a password.")
  var noPrompt = false

  var storage: SecretServiceStorage { storage(collection) }

  func storage(_ collection: String?) -> SecretServiceStorage {
    SecretServiceStorage(
      collection: Self.collection(collection), interaction: noPrompt ? .never : .allowed)
  }

  private static func collection(_ label: String?) -> SecretServiceStorage.Collection {
    switch label {
    case nil: .default
    case "session": .session
    case let label?: .named(label)
    }
  }
}
