// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
internal import Keyring
internal import KeyringMigration
public import KeyringStorage

/// The commands for the items of a storage.
public struct ItemCommands: Sendable {
  let storage: any SecureStorage

  /// Creates the commands for a storage.
  ///
  /// - Parameter storage: The storage of the items.
  public init(_ storage: any SecureStorage) {
    self.storage = storage
  }

  /// Lists items without their secrets.
  ///
  /// - Parameters:
  ///   - selection: The items to list.
  ///   - isExpired: Pass `true` to list only items whose secret has expired.
  ///   - allowsUnlocking: Whether locked items may be unlocked. If the storage shows them while they're locked, they're
  ///     listed in any case.
  /// - Returns: The items as text.
  /// - Throws: ``ItemSelection/Unclear`` if the selection is unclear, or `SecureStorageError` if the items
  ///   can't be read, or if a locked storage hides them.
  public func list(
    _ selection: ItemSelection, isExpired: Bool = false, allowsUnlocking: Bool = true
  ) throws -> ItemListing {
    var query = try selection.query()
    query.details = .metadata
    query.allowsUnlocking = allowsUnlocking
    let items = try storage.items(matching: query).filter { selection.hasSchema(of: $0.key) }
    return ItemListing(isExpired ? items.filter(\.isExpired) : items)
  }

  /// Returns the secret of an item.
  ///
  /// - Parameter selection: The item to read.
  /// - Returns: The secret.
  /// - Throws: ``ToolFailure`` if there is no such item, or another error if it can't be read.
  public func secret(_ selection: ItemSelection) throws -> Secret {
    try withKey(of: selection) { try storage.secret(for: $0) }
  }

  /// Returns everything except the secret of an item.
  ///
  /// - Parameter selection: The item to read.
  /// - Returns: The item as text.
  /// - Throws: ``ToolFailure`` if there is no such item, or another error if it can't be read.
  public func metadata(_ selection: ItemSelection) throws -> ItemListing {
    try withKey(of: selection) { key in
      try storage.item(for: key, details: .metadata).map { ItemListing([$0]) }
    }
  }

  /// Stores a secret.
  ///
  /// - Parameters:
  ///   - secret: The secret.
  ///   - selection: The item that contains the secret.
  ///   - login: The login of a credential.
  ///   - label: The name that keyring managers show, or `nil` to leave it unchanged.
  ///   - expires: The time at which the secret expires, or `nil` if it doesn't expire.
  ///   - mode: The save mode.
  ///   - advice: A sentence that says how to replace an item that already exists.
  /// - Returns: The description of the item.
  /// - Throws: ``ItemSelection/Unclear`` if the selection is unclear, or another error if the secret can't
  ///   be stored.
  @discardableResult
  public func set(
    _ secret: Secret, for selection: ItemSelection, login: String? = nil, label: String? = nil,
    expires: Date? = nil, mode: SaveMode = .addOrReplace, toReplace advice: String? = nil
  ) throws -> String {
    let key = try selection.key()
    let old = try present(selection)
    var item = SecureItem(
      key: old?.key ?? key, secret: secret, label: label,
      attributes: login.map { ["username": $0] })
    if expires != nil {
      item.expires = expires
    } else if mode != .add, old?.expires != nil {
      // The time belongs to the old secret.
      item.expires = nil
    }
    do throws(SecureStorageError) {
      try storage.save(item, mode: mode)
    } catch {
      var error = error
      if error.code == .itemAlreadyExists { error.recoverySuggestion = advice }
      throw error
    }
    return item.key.description.printable
  }

  /// Removes items.
  ///
  /// - Parameters:
  ///   - selection: The items to remove.
  ///   - all: Whether to remove all items of the service or server.
  ///   - allPrograms: Whether that includes other programs' own items.
  /// - Returns: The number of removed items, which is 0 only if all were selected.
  /// - Throws: ``ToolFailure`` if there is no such item, ``ItemSelection/Unclear`` if the selection is unclear,
  ///   or `SecureStorageError` if the items can't be removed.
  public func remove(
    _ selection: ItemSelection, all: Bool = false, allPrograms: Bool = false
  ) throws -> Int {
    if all {
      return try storage.removeItems(
        matching: selection.queryForAll(ofAllPrograms: allPrograms))
    }
    return try withKey(of: selection) { try storage.remove($0) ? 1 : nil }
  }

  /// Describes the items that a command for all items leaves, because they are another program's own.
  ///
  /// - Parameter selection: The items of the command.
  /// - Returns: A line for each item.
  /// - Throws: The same errors as ``list(_:isExpired:allowsUnlocking:)``.
  public func left(_ selection: ItemSelection) throws -> [String] {
    try storage.items(matching: selection.query()).filter(\.isForeign).map(Self.left)
  }

  static func left(_ item: SecureItem) -> String {
    "left: \(item.key.description.printable), which another program has stored"
  }

  /// Moves items to another storage.
  ///
  /// All items are written to the destination and read back before the first one is removed. To complete an
  /// interrupted move, run it again.
  ///
  /// - Parameters:
  ///   - selection: The items to move.
  ///   - all: Whether to move all items of the service or server.
  ///   - allPrograms: Whether that includes other programs' own items.
  ///   - destination: The storage to move the items to.
  ///   - isReplacing: Whether to replace items of the destination.
  ///   - prepare: The closure to call before the first item is removed.
  /// - Returns: The number of moved items.
  /// - Throws: ``ToolFailure`` if there is no such item, ``ItemSelection/Unclear`` if the selection is unclear, or
  ///   another error if an item can't be moved.
  public func move(
    _ selection: ItemSelection, all: Bool = false, allPrograms: Bool = false,
    to destination: any SecureStorage, replacing isReplacing: Bool,
    beforeRemoving prepare: () throws -> Void = {}
  ) throws -> Int {
    try withKeys(of: selection, all: all, allPrograms: allPrograms) { keys in
      func migration(replacing isReplacing: Bool) -> Migration {
        Migration(of: keys, from: storage, to: destination, replacing: isReplacing)
      }
      do {
        if try migration(replacing: isReplacing).copy().count > 0 {
          try prepare()
          try Self.check(Array(storage.items(for: keys, details: []).keys), areIn: destination)
        }
        return try migration(replacing: false).move().count
      } catch var error as SecureStorageError {
        if error.argument == "destination" {
          throw ToolFailure(
            "The items are already in that collection.",
            recoverySuggestion: "Choose two different collections.")
        }
        if error.code == .itemAlreadyExists {
          error.recoverySuggestion = "Remove one of them, or move with --replace."
        }
        throw error
      }
    }
  }

  /// Throws an error if a storage has lost items that were written before.
  ///
  /// An item that is written only now might be lost again after the old one was removed.
  static func check(_ keys: [ItemKey], areIn storage: any SecureStorage) throws {
    let found = try storage.items(for: keys, details: .metadata)
    guard let lost = keys.first(where: { found[$0] == nil }) else { return }
    throw ToolFailure(
      "The keyring has lost the \(lost.description.printable).",
      recoverySuggestion: "The old item is still there. Run the command again.", status: .damaged)
  }

  /// Changes all items of a service or server, or the single one that a selection names.
  ///
  /// - Parameters:
  ///   - selection: The items.
  ///   - all: Whether to change all items of the service or server.
  ///   - allPrograms: Whether that includes other programs' own items.
  ///   - body: A closure that changes the items with some keys, and returns their number.
  /// - Returns: The number of items, which is 0 only if all were selected.
  /// - Throws: The errors of ``withKey(of:_:)``.
  func withKeys(
    of selection: ItemSelection, all: Bool, allPrograms: Bool, _ body: ([ItemKey]) throws -> Int
  ) throws -> Int {
    if all {
      let query = try selection.queryForAll(ofAllPrograms: allPrograms)
      return try body(Self.keys(of: storage.items(matching: query)))
    }
    return try withKey(of: selection) { key in
      let count = try body([key])
      return count == 0 ? nil : count
    }
  }

  /// Returns the keys of items, each of them once.
  static func keys(of items: [SecureItem]) -> [ItemKey] {
    var seen: Set<ItemKey> = []
    return items.map(\.key).filter { seen.insert($0).inserted }
  }

  /// Performs an operation on the key of the single item that a selection names.
  ///
  /// It may be under another key than the selection has. See ``ItemSelection/named(among:)``.
  ///
  /// - Parameters:
  ///   - selection: The item.
  ///   - body: A closure that performs the operation, or returns `nil` if there is no item with the key.
  /// - Returns: The result of the operation.
  /// - Throws: ``ItemSelection/Unclear`` or ``ToolFailure`` with the items that could be meant, or the error of
  ///   the operation.
  func withKey<Result>(
    of selection: ItemSelection, _ body: (ItemKey) throws -> Result?
  ) throws -> Result {
    let named: ItemKey
    do throws(ItemSelection.Unclear) {
      named = try selection.key()
    } catch {
      var error = error
      error.candidates = Self.keys(of: candidates(for: selection)).prefix(10)
        .map(ItemSelection.arguments)
      throw error
    }
    // A part may be empty.
    let key = ItemKey(kind: named.kind, attributes: named.attributes, schema: named.schema)
    if let result = try body(key) { return result }
    let candidates = candidates(for: selection)
    if let item = selection.named(among: candidates), let result = try body(item.key) {
      return result
    }
    let list = Self.keys(of: candidates).prefix(10)
      .map { "\n  " + ItemSelection.arguments(for: $0) }.joined()
    throw ToolFailure(
      "There is no \(key.description.printable).",
      recoverySuggestion: list.isEmpty
        ? "Use the command \"list\" to list all items." : "Specify one of these:" + list,
      status: .notFound)
  }

  /// Returns the item that a selection names without its secret, or `nil` if it's missing.
  func present(_ selection: ItemSelection) throws -> SecureItem? {
    try storage.item(for: selection.key(), details: .metadata)
      ?? selection.named(among: candidates(for: selection))
  }

  /// Returns the items that match the named parts, or else are of the same service or server.
  ///
  /// The user isn't asked, because this only helps with a failure.
  private func candidates(for selection: ItemSelection) -> [SecureItem] {
    if selection.service == nil, selection.server == nil, selection.attributes.isEmpty { return [] }
    let wide = ItemSelection(
      service: selection.service, server: selection.server.map { InternetServer($0.host) })
    for selection in [selection, wide] {
      guard var query = try? selection.query(), !query.isUnconstrained else { return [] }
      query.details = .metadata
      query.allowsUnlocking = false
      if let items = try? storage.items(matching: query), !items.isEmpty { return items }
    }
    return []
  }
}
