// SPDX-License-Identifier: Apache-2.0

internal import Keyring
internal import KeyringMigration
internal import KeyringStorage

extension ItemCommands {
  /// Gives items other keys.
  ///
  /// All items are stored under their new keys and read back before the first old one is removed. To complete
  /// an interrupted renaming, run it again.
  ///
  /// - Parameters:
  ///   - selection: The items to rename.
  ///   - all: Whether to rename all items of the service or server.
  ///   - allPrograms: Whether that includes other programs' own items.
  ///   - changes: The parts of the keys to change.
  ///   - prepare: The closure to call before the old items are removed.
  /// - Returns: The number of renamed items.
  /// - Throws: ``ToolFailure`` if there is no such item, ``ItemSelection/Unclear`` if the selection or the new keys
  ///   are unclear, or another error if an item can't be renamed.
  public func rename(
    _ selection: ItemSelection, all: Bool = false, allPrograms: Bool = false,
    to changes: KeyChanges, beforeRemoving prepare: () throws -> Void = {}
  ) throws -> Int {
    try withKeys(of: selection, all: all, allPrograms: allPrograms) { keys in
      try rename(keys, to: changes, beforeRemoving: prepare)
    }
  }

  private func rename(
    _ keys: [ItemKey], to changes: KeyChanges, beforeRemoving prepare: () throws -> Void
  ) throws -> Int {
    var newKeys: [ItemKey: ItemKey] = [:]
    for key in try storage.items(for: keys, details: []).keys {
      newKeys[key] = try changes.newKey(for: key)
    }
    // An item that has the key already has nothing to do.
    let unchanged = newKeys.filter { $0.key == $0.value }
    if !newKeys.isEmpty, unchanged.count == newKeys.count {
      throw ItemSelection.Unclear(message: "The new name is the old one.")
    }
    newKeys = newKeys.filter { $0.key != $0.value }
    let taken = Set(newKeys.values).intersection(newKeys.keys)
    guard Set(newKeys.values).count == newKeys.count, taken.isEmpty else {
      throw ItemSelection.Unclear(message: "Several items would get the same name.")
    }
    let migration = Migration(renaming: newKeys, in: storage)
    do {
      if try migration.copy().count > 0 {
        try prepare()
        try Self.check(Array(newKeys.values), areIn: storage)
      } else if let key = newKeys.keys.first {
        // Only the schema differs, and both keys mean the item.
        throw ToolFailure(
          "Another program has stored the \(key.description.printable).",
          recoverySuggestion: "Store its secret with \"set --schema\".")
      }
      return try migration.move().count
    } catch var error as SecureStorageError where error.code == .itemAlreadyExists {
      error.message = "There is another item with the new name."
      error.recoverySuggestion = "Remove that item first, or choose another name."
      throw error
    }
  }
}
