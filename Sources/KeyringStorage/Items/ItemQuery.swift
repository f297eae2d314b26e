// SPDX-License-Identifier: Apache-2.0

public import KeyringPlatform

/// A query that selects items to find or remove, and the parts of them to fetch.
///
/// ```swift
/// try storage.items(matching: .service("org.example.app", details: .metadata))
/// ```
public struct ItemQuery: Sendable, Equatable {
  /// The parts of an item that a query fetches.
  ///
  /// The key is always included.
  public struct Details: OptionSet, Sendable, Hashable {
    /// The bits of the set.
    public let rawValue: Int

    /// Creates a set from its bits.
    ///
    /// - Parameter rawValue: The bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// The secret.
    public static let secret = Details(rawValue: 1)
    /// The label, the attributes, and the times at which the item was created and modified.
    public static let metadata = Details(rawValue: 2)
    /// All parts of the item.
    public static let all: Details = [.secret, .metadata]
  }

  /// The key of the item to select.
  public var key: ItemKey?

  /// The kind of the items to select.
  public var kind: ItemKind?

  /// The attributes that an item must have, with exactly these values.
  ///
  /// The attributes can be parts of the key or others.
  public var attributes: [String: String]

  /// The label of the items to select.
  public var label: String?

  /// The time range in which an item must have been stored for the first time.
  ///
  /// Times are compared in whole seconds, because keyrings keep them this way.
  public var created: ClosedRange<Date>?

  /// The time range in which an item must have been changed for the last time.
  ///
  /// Times are compared in whole seconds, because keyrings keep them this way.
  public var modified: ClosedRange<Date>?

  /// Whether attributes and labels match regardless of upper and lower case.
  ///
  /// Keyrings can't search like this: the storage looks at every item of the collection, and leaves the
  /// secrets alone.
  public var ignoresCase: Bool

  /// The parts of each item to fetch.
  public var details: Details

  /// The maximum number of items to return, or `nil` to return all of them.
  ///
  /// The query returns the newest items.
  public var limit: Int?

  /// Whether the query unlocks locked items, with a prompt where that's necessary.
  ///
  /// With `false`, locked items come with the parts that the keyring reveals, and no secret.
  public var allowsUnlocking: Bool

  /// Whether the query leaves out the items that are another program's own.
  ///
  /// A removal with `true` leaves these items as they are. See ``SecureItem/isForeign``.
  public var leavesForeignItems = false

  /// Called now and then with the number of items looked at, and the total.
  ///
  /// Both may start again after an unlock. Asynchronous queries call it on another thread.
  ///
  /// ```swift
  /// query.onProgress = { completed, total in print("\(completed) of \(total)") }
  /// ```
  public var onProgress: (@Sendable (_ completed: Int, _ total: Int) -> Void)? {
    get { progress.handler }
    set { progress.handler = newValue }
  }

  private var progress = ProgressHandler()

  /// Whether a removal leaves the items that another program has stored beside an item.
  ///
  /// These items are unread.
  package var leavesOthers = false

  /// Creates a query.
  ///
  /// - Parameters:
  ///   - key: The key of the item to select.
  ///   - kind: The kind of the items to select.
  ///   - attributes: The attributes that an item must have, with exactly these values.
  ///   - label: The label of the items to select.
  ///   - created: The time range in which an item must have been stored for the first time.
  ///   - modified: The time range in which an item must have been changed for the last time.
  ///   - ignoresCase: Whether attributes and labels match regardless of upper and lower case.
  ///   - details: The parts of each item to fetch.
  ///   - limit: The maximum number of items to return, starting with the newest.
  ///   - allowsUnlocking: Whether to unlock locked items, with a prompt where that's necessary.
  public init(
    key: ItemKey? = nil,
    kind: ItemKind? = nil,
    attributes: [String: String] = [:],
    label: String? = nil,
    created: ClosedRange<Date>? = nil,
    modified: ClosedRange<Date>? = nil,
    ignoresCase: Bool = false,
    details: Details = [],
    limit: Int? = nil,
    allowsUnlocking: Bool = true
  ) {
    self.key = key
    self.kind = kind
    self.attributes = attributes
    self.label = label
    self.created = created
    self.modified = modified
    self.ignoresCase = ignoresCase
    self.details = details
    self.limit = limit
    self.allowsUnlocking = allowsUnlocking
  }

  /// Returns a query for the item with a key.
  ///
  /// ```swift
  /// let items = try storage.items(matching: .key(key, details: .all))
  /// ```
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - details: The parts of the item to fetch.
  /// - Returns: The query.
  public static func key(_ key: ItemKey, details: Details = []) -> ItemQuery {
    ItemQuery(key: key, details: details)
  }

  /// Returns a query for all items of a service.
  ///
  /// ```swift
  /// let items = try storage.items(matching: .service("org.example.app", kind: .password))
  /// ```
  ///
  /// - Parameters:
  ///   - service: The service.
  ///   - kind: The kind of the items to select.
  ///   - details: The parts of each item to fetch.
  /// - Returns: The query.
  public static func service(
    _ service: String, kind: ItemKind? = nil, details: Details = []
  ) -> ItemQuery {
    ItemQuery(kind: kind, attributes: [AttributeName.service: service], details: details)
  }

  /// Returns a query for all passwords of a server.
  ///
  /// ```swift
  /// let items = try storage.items(matching: .server("mail.example.org", details: .metadata))
  /// ```
  ///
  /// - Parameters:
  ///   - server: The name of the server.
  ///   - details: The parts of each item to fetch.
  /// - Returns: The query, which selects items of the kind `.internetPassword`.
  public static func server(_ server: String, details: Details = []) -> ItemQuery {
    ItemQuery(
      kind: .internetPassword, attributes: [AttributeName.server: server], details: details)
  }

  /// Whether the query names no key, no attribute, and no label.
  ///
  /// Such a query could select items that you don't expect. A removal refuses it.
  public var isUnconstrained: Bool { key == nil && attributes.isEmpty && label == nil }

  /// Whether the key alone determines which item the query selects.
  package var asksForKeyOnly: Bool {
    key != nil && !leavesForeignItems && kind == nil && attributes.isEmpty && label == nil
      && created == nil
      && modified == nil
  }
}

/// The progress closure of a query.
///
/// The query selects the same items with any handler, so all of them are equal.
private struct ProgressHandler: Sendable, Equatable {
  var handler: (@Sendable (Int, Int) -> Void)?

  static func == (_: ProgressHandler, _: ProgressHandler) -> Bool { true }
}

extension ItemQuery {
  /// Compares an item with all conditions of the query, byte by byte.
  ///
  /// All storages compare items this way. A storage whose backend can't search calls this method for each of
  /// its items.
  ///
  /// ```swift
  /// let found = items.filter(query.matches).map { $0.selecting(query.details) }
  /// ```
  ///
  /// - Parameter item: The item, with all of its metadata.
  /// - Returns: `true` for an item that matches every condition.
  public func matches(_ item: SecureItem) -> Bool {
    if let key, key != item.key { return false }
    if let kind, kind != item.key.kind { return false }
    if leavesForeignItems, item.isForeign { return false }
    if let label, !isSame(label, item.label) { return false }
    let all = (item.attributes ?? [:]).setting(item.key.attributes)
    return attributes.allSatisfy { isSame($0.value, all.value(ofExactly: $0.key)) }
      && Self.contains(created, item.created) && Self.contains(modified, item.modified)
  }

  /// Returns the newest of some items, up to the limit of the query, with the parts that it asks for.
  package func newest(of items: [SecureItem]) -> [SecureItem] {
    items.map { ($0.modified ?? .distantPast).timeIntervalSinceReferenceDate }.indicesFromLargest
      .prefix(limit ?? .max).map { items[$0].selecting(details) }
  }

  private func isSame(_ wanted: String, _ found: String?) -> Bool {
    guard let found else { return false }
    return ignoresCase ? wanted.lowercased() == found.lowercased() : wanted.hasSameBytes(found)
  }

  private static func contains(_ range: ClosedRange<Date>?, _ date: Date?) -> Bool {
    guard let range else { return true }
    guard let second = date?.timeIntervalSince1970.rounded(.down) else { return false }
    return second >= range.lowerBound.timeIntervalSince1970.rounded(.down)
      && second <= range.upperBound.timeIntervalSince1970
  }
}

extension [Double] {
  /// The indices of the numbers, from the largest number to the smallest.
  ///
  /// Numbers are moved faster than items. Indices of equal numbers keep their order.
  // Not inlined: each module that sorts would contain its code.
  @inline(never)
  package var indicesFromLargest: [Int] { indices.sorted { self[$0] > self[$1] } }
}

extension SecureItem {
  /// Returns the item with only the parts that a query asks for, as a storage returns it.
  ///
  /// ```swift
  /// let found = items.filter(query.matches).map { $0.selecting(query.details) }
  /// ```
  ///
  /// - Parameter details: The parts to keep. The key is always kept.
  /// - Returns: The item without the other parts.
  public func selecting(_ details: ItemQuery.Details) -> SecureItem {
    var item = details.contains(.metadata) ? self : SecureItem(key: key)
    (item.isForeign, item.isShared) = (isForeign, isShared)
    item.hasFurtherSecrets = hasFurtherSecrets
    item.secret = details.contains(.secret) ? secret : nil
    return item
  }
}
