public import Keyring

/// A move of items from one storage to another that loses none if it's interrupted.
///
/// To complete an interrupted move, run it again. An item that is the same in the destination as in the
/// source counts as written.
public struct ItemMove: Sendable {
  private let source: any SecureStorage
  private let destination: any SecureStorage
  private let isReplacing: Bool

  /// Creates a move.
  ///
  /// - Parameters:
  ///   - source: The storage of the items.
  ///   - destination: The storage to move the items to.
  ///   - replacing: A Boolean value that indicates whether to replace items with the same keys in the
  ///     destination. Attributes that only those items have are kept.
  public init(
    from source: any SecureStorage, to destination: any SecureStorage, replacing: Bool
  ) {
    self.source = source
    self.destination = destination
    self.isReplacing = replacing
  }

  /// Moves the items that match a query.
  ///
  /// All items are written to the destination and read back before the first one is removed from the
  /// source. If an item can't be written, the source is left unchanged.
  ///
  /// - Parameter query: The query that selects the items.
  /// - Returns: The number of moved items.
  /// - Throws: `SecureStorageError` or ``ToolFailure`` if an item can't be moved.
  public func run(_ query: ItemQuery) throws -> Int {
    let items = try itemsToMove(query)
    let uncopied = try itemsToCopy(items)
    for item in uncopied { try copy(item) }
    for item in items { try removeFromSource(item) }
    return items.count
  }

  private func itemsToMove(_ query: ItemQuery) throws(SecureStorageError) -> [SecureItem] {
    var query = query
    query.details = .all
    return try source.items(matching: query).map { item in
      var item = item
      // Other programs put slashes in labels, which no storage of this package accepts.
      item.label = item.label.map { $0.replacing("/", with: "-") }
      if item.label?.isEmpty == true { item.label = nil }
      return item
    }
  }

  /// Returns the items to copy; throws an error if the destination has a different item for a key.
  private func itemsToCopy(_ items: [SecureItem]) throws -> [SecureItem] {
    var uncopied: [SecureItem] = []
    var collisions = 0
    for item in items {
      guard let present = try destination.item(for: item.key) else {
        uncopied.append(item)
        continue
      }
      collisions += 1
      if present.isCopy(of: item) { continue }
      guard isReplacing else { throw collision(item.key) }
      uncopied.append(item)
    }
    if collisions > 0, collisions == items.count, try sourceIsDestination() {
      throw ToolFailure(
        "The items are already in that collection.",
        recoverySuggestion: "Choose two different collections.")
    }
    return uncopied
  }

  /// Returns whether both are the same collection under two names, such as its label and "default".
  ///
  /// Only an item that is new in one of them can tell. An item that is in one and not in the other also
  /// tells, so this check is needed only if all items collide.
  private func sourceIsDestination() throws(SecureStorageError) -> Bool {
    let number = UInt64.random(in: 0...UInt64.max)
    let probe = ItemKey.password(service: "keyring-tool move", account: String(number))
    try destination.setSecret(Secret("a probe"), for: probe, mode: .add)
    let isFound: Result<Bool, SecureStorageError> = Result { () throws(SecureStorageError) in
      try source.exists(probe)
    }
    try destination.remove(probe)
    return try isFound.get()
  }

  private func copy(_ item: SecureItem) throws {
    try destination.save(item, mode: isReplacing ? .addOrReplace : .add)
    guard try destination.item(for: item.key)?.isCopy(of: item) == true else {
      throw ToolFailure(
        "\(item.key) did not read back as it was written; nothing was removed from the source.",
        recoverySuggestion: "Look at both, and try again.")
    }
  }

  private func removeFromSource(_ item: SecureItem) throws {
    guard try source.secret(for: item.key) == item.secret else {
      throw ToolFailure(
        "\(item.key) was changed by another program on the way, and is in both places.",
        recoverySuggestion: "Move it again with --replace.")
    }
    try source.remove(item.key)
  }

  private func collision(_ key: ItemKey) -> SecureStorageError {
    SecureStorageError(
      .itemAlreadyExists, operation: .save, backendName: destination.backendName,
      message: "The destination has \(key) already, and it is not the same.",
      recoverySuggestion: "Remove one of them, or move with --replace.")
  }
}

extension SecureItem {
  /// Returns whether the item contains everything of another item; it may have more attributes.
  fileprivate func isCopy(of item: SecureItem) -> Bool {
    secret == item.secret && (item.label == nil || label == item.label)
      && (item.attributes ?? [:]).allSatisfy { attributes?[$0.key] == $0.value }
  }
}
