public import Keyring

/// What can be done with the items of a storage.
public struct ItemCommands: Sendable {
  private let storage: any SecureStorage

  /// Prepares the commands.
  ///
  /// - Parameter storage: Where the items are.
  public init(_ storage: any SecureStorage) {
    self.storage = storage
  }

  /// Finds items without their secrets.
  ///
  /// - Parameters:
  ///   - selection: Which items.
  ///   - unlocks: Whether what is locked may be unlocked; it is listed in any case.
  /// - Returns: The items as text.
  /// - Throws: That the selection is not clear, or any reason for not knowing the answer.
  public func list(_ selection: ItemSelection, unlocks: Bool = true) throws -> ItemListing {
    var query = try selection.query()
    query.details = .metadata
    query.unlocks = unlocks
    return ItemListing(try storage.items(matching: query))
  }

  /// Reads the secret of an item.
  ///
  /// - Parameter selection: Which item.
  /// - Returns: Its secret.
  /// - Throws: That there is none, or any reason for not knowing the answer.
  public func secret(_ selection: ItemSelection) throws -> Secret {
    let key = try selection.key()
    guard let secret = try storage.secret(for: key) else { throw Self.missing(key) }
    return secret
  }

  /// Reads everything but the secret of an item.
  ///
  /// - Parameter selection: Which item.
  /// - Returns: The item as text.
  /// - Throws: That there is none, or any reason for not knowing the answer.
  public func metadata(_ selection: ItemSelection) throws -> ItemListing {
    let key = try selection.key()
    guard let item = try storage.item(for: key, details: .metadata) else { throw Self.missing(key) }
    return ItemListing([item])
  }

  /// Stores a secret.
  ///
  /// - Parameters:
  ///   - secret: The secret.
  ///   - selection: The item that it is for.
  ///   - login: The login of a credential.
  ///   - label: The name that keyring managers show; `nil` leaves it as it is.
  ///   - mode: What to do when there is such an item, or is not.
  /// - Throws: That the selection is not clear, or what kept it from being stored.
  public func set(
    _ secret: Secret, for selection: ItemSelection, login: String? = nil, label: String? = nil,
    _ mode: SaveMode = .addOrReplace
  ) throws {
    let item = SecureItem(
      key: try selection.key(), secret: secret, label: label,
      attributes: login.map { ["username": $0] })
    try storage.save(item, mode)
  }

  /// Removes items.
  ///
  /// - Parameters:
  ///   - selection: Which items.
  ///   - all: Whether all of the service or server are meant.
  /// - Returns: How many were removed.
  /// - Throws: That the selection is not clear, or what kept them from being removed.
  public func remove(_ selection: ItemSelection, all: Bool = false) throws -> Int {
    try storage.removeItems(matching: selection.query(all: all))
  }

  private static func missing(_ key: ItemKey) -> ToolFailure {
    ToolFailure("There is no \(key).", advice: "The command \"list\" shows what there is.")
  }
}
