import Keyring

/// Moves items from one storage to another, losing none whatever happens on the way.
public struct ItemMove {
  private let source: any SecureStorage
  private let destination: any SecureStorage
  private let mode: SaveMode

  /// Prepares a move.
  ///
  /// - Parameters:
  ///   - source: Where the items are.
  ///   - destination: Where they go.
  ///   - replacing: Whether items of the same keys there are replaced.
  public init(
    from source: any SecureStorage, to destination: any SecureStorage, replacing: Bool
  ) {
    self.source = source
    self.destination = destination
    self.mode = replacing ? .addOrReplace : .add
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
    var query = query
    query.details = .all
    let items = try source.items(matching: query)
    try refuseCollisions(items)
    for item in items {
      try destination.save(item, mode)
      let copy = try destination.item(for: item.key)
      guard copy?.secret == item.secret, copy?.label == item.label,
        copy?.attributes == item.attributes
      else { throw Mismatch(key: item.key) }
    }
    for item in items { try source.remove(item.key) }
    return items.count
  }

  private func refuseCollisions(_ items: [SecureItem]) throws {
    for item in items where mode == .add {
      if try destination.exists(item.key) {
        throw SecureStorageError(
          .itemAlreadyExists, operation: .save, backend: destination.backendName,
          message: "The destination has \(item.key) already.")
      }
    }
  }

  /// An item that did not read back as it was written.
  public struct Mismatch: Error, CustomStringConvertible {
    /// The key of the item.
    public let key: ItemKey

    /// What happened, and that nothing is lost.
    public var description: String {
      "\(key) did not read back as it was written; nothing was removed from the source."
    }
  }
}
