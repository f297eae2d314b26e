// SPDX-License-Identifier: Apache-2.0

public import KeyringStorage

/// The commands for the collections of a keyring.
public struct CollectionCommands: Sendable {
  private let storage: any CollectionStorage

  /// Creates the commands for a keyring.
  ///
  /// - Parameter storage: Any collection of the keyring.
  public init(_ storage: any CollectionStorage) {
    self.storage = storage
  }

  /// Lists the collections.
  ///
  /// - Returns: One line per collection, with its lock state, its label, and a mark if it's the default.
  /// - Throws: `SecureStorageError` if the collections can't be listed.
  public func list() throws -> [String] {
    try storage.collections().map { collection in
      let state = collection.isLocked ? "locked  " : "unlocked"
      // The only one without a label is gnome-keyring's session collection.
      let name = collection.label.isEmpty ? "session" : collection.label.printable
      return "\(state)  \(name)\(collection.isDefault ? "  (default)" : "")"
    }
  }

  /// Creates a collection.
  ///
  /// - Parameter label: The label of the collection.
  /// - Throws: `SecureStorageError` if the collection can't be created.
  public func create(_ label: String) throws {
    try storage.createCollection(labeled: label)
  }

  /// Deletes a collection and all its items.
  ///
  /// - Parameter label: The label of the collection.
  /// - Throws: ``ToolFailure`` if there is no such collection, or `SecureStorageError` if it can't be
  ///   deleted.
  public func delete(_ label: String) throws {
    guard try storage.deleteCollection(labeled: label) else {
      throw ToolFailure(
        "There is no collection \"\(label)\".",
        recoverySuggestion: "Use the command \"collections\" to list all collections.",
        status: .notFound)
    }
  }
}
