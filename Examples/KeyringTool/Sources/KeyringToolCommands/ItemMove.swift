public import Keyring

/// Moves items from one storage to another, losing none whatever happens on the way.
///
/// A move that was interrupted is completed by running it again: an item that is in the destination
/// as it is in the source counts as written.
public struct ItemMove: Sendable {
  private let source: any SecureStorage
  private let destination: any SecureStorage
  private let isReplacing: Bool

  /// Prepares a move.
  ///
  /// - Parameters:
  ///   - source: Where the items are.
  ///   - destination: Where they go.
  ///   - replacing: Whether items of the same keys there are replaced. Attributes that only they
  ///     have are kept.
  public init(
    from source: any SecureStorage, to destination: any SecureStorage, replacing: Bool
  ) {
    self.source = source
    self.destination = destination
    self.isReplacing = replacing
  }

  /// Moves the items that a query finds.
  ///
  /// All are written to the destination and read back before the first is removed from the source.
  /// When one cannot be written, the source is left as it is.
  ///
  /// - Parameter query: Which items.
  /// - Returns: How many items were moved.
  /// - Throws: What kept an item from being moved.
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
      // Other programs put slashes in labels; no storage of this package takes one back.
      item.label = item.label.map { $0.replacing("/", with: "-") }
      if item.label?.isEmpty == true { item.label = nil }
      return item
    }
  }

  /// The items that the destination does not have yet; refuses those that it has otherwise.
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
        "The items are where they are to go.", advice: "Choose two different collections.")
    }
    return uncopied
  }

  /// Whether both are one collection under two names, such as its label and "default".
  ///
  /// Only an item that is new in one tells. An item that was found in one and not in the other
  /// tells as well, so that this is needed only when all of them collide.
  private func sourceIsDestination() throws(SecureStorageError) -> Bool {
    let number = UInt64.random(in: 0...UInt64.max)
    let probe = ItemKey.password(service: "keyring-tool move", account: String(number))
    try destination.setSecret(Secret("a probe"), for: probe, .add)
    let isFound: Result<Bool, SecureStorageError> = Result { () throws(SecureStorageError) in
      try source.exists(probe)
    }
    try destination.remove(probe)
    return try isFound.get()
  }

  private func copy(_ item: SecureItem) throws {
    try destination.save(item, isReplacing ? .addOrReplace : .add)
    guard try destination.item(for: item.key)?.isCopy(of: item) == true else {
      throw ToolFailure(
        "\(item.key) did not read back as it was written; nothing was removed from the source.",
        advice: "Look at both, and try again.")
    }
  }

  private func removeFromSource(_ item: SecureItem) throws {
    guard try source.secret(for: item.key) == item.secret else {
      throw ToolFailure(
        "\(item.key) was changed by another program on the way, and is in both places.",
        advice: "Move it again with --replace.")
    }
    try source.remove(item.key)
  }

  private func collision(_ key: ItemKey) -> SecureStorageError {
    SecureStorageError(
      .itemAlreadyExists, operation: .save, backend: destination.backendName,
      message: "The destination has \(key) already, and it is not the same.",
      advice: "Remove one of them, or move with --replace.")
  }
}

extension SecureItem {
  /// Whether everything of an item is in this one too, which may have more attributes.
  fileprivate func isCopy(of item: SecureItem) -> Bool {
    secret == item.secret && (item.label == nil || label == item.label)
      && (item.attributes ?? [:]).allSatisfy { attributes?[$0.key] == $0.value }
  }
}
