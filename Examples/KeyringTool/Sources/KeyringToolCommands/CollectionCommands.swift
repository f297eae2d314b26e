public import Keyring

/// What can be done with the collections of a keyring.
public struct CollectionCommands: Sendable {
  private let storage: any CollectionStorage

  /// Prepares the commands.
  ///
  /// - Parameter storage: Any collection of the keyring.
  public init(_ storage: any CollectionStorage) {
    self.storage = storage
  }

  /// Lists the collections.
  ///
  /// - Returns: A line for each: whether it is locked, its label, and whether it is the default.
  /// - Throws: Any reason for not knowing the answer.
  public func list() throws -> [String] {
    try storage.collections().map { collection in
      let state = collection.isLocked ? "locked  " : "unlocked"
      let name = collection.label.isEmpty ? "(no label)" : collection.label.printable
      return "\(state)  \(name)\(collection.isDefault ? "  (default)" : "")"
    }
  }

  /// Makes a collection.
  ///
  /// - Parameter label: Its label.
  /// - Throws: What kept it from being made.
  public func create(_ label: String) throws {
    try storage.createCollection(labeled: label)
  }

  /// Deletes a collection and all its items.
  ///
  /// - Parameter label: Its label.
  /// - Throws: That there is none, or what kept it from being deleted.
  public func delete(_ label: String) throws {
    guard try storage.deleteCollection(labeled: label) else {
      throw ToolFailure(
        "There is no collection \"\(label)\".",
        advice: "The command \"collections\" shows what there is.")
    }
  }
}
