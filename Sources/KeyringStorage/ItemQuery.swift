/// Which items to find or remove, and what of them to fetch.
///
/// ```swift
/// try storage.items(matching: .service("org.example.app", details: .metadata))
/// ```
public struct ItemQuery: Sendable, Equatable {
  /// The parts of an item that a search fetches; the key always comes along.
  public struct Details: OptionSet, Sendable, Hashable {
    /// The bits of the set.
    public let rawValue: Int

    /// Makes a set from its bits.
    ///
    /// - Parameter rawValue: The bits.
    public init(rawValue: Int) {
      self.rawValue = rawValue
    }

    /// The secret.
    public static let secret = Details(rawValue: 1)
    /// Label, attributes, created and modified.
    public static let metadata = Details(rawValue: 2)
    /// Everything.
    public static let all: Details = [.secret, .metadata]
  }

  /// Only the item with this key.
  public var key: ItemKey?

  /// Only items of this kind.
  public var kind: ItemKind?

  /// Only items that have all these attributes, parts of the key or others, with just these values.
  public var attributes: [String: String]

  /// What of each item to fetch.
  public var details: Details

  /// At most so many items; `nil` for all of them.
  public var limit: Int?

  /// Makes a query.
  ///
  /// - Parameters:
  ///   - key: Only the item with this key.
  ///   - kind: Only items of this kind.
  ///   - attributes: Only items with these attributes.
  ///   - details: What of each item to fetch.
  ///   - limit: At most so many items.
  public init(
    key: ItemKey? = nil,
    kind: ItemKind? = nil,
    attributes: [String: String] = [:],
    details: Details = [],
    limit: Int? = nil
  ) {
    self.key = key
    self.kind = kind
    self.attributes = attributes
    self.details = details
    self.limit = limit
  }

  /// The item with a key.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - details: What of the item to fetch.
  /// - Returns: The query.
  public static func key(_ key: ItemKey, details: Details = []) -> ItemQuery {
    ItemQuery(key: key, details: details)
  }

  /// Every item of a service.
  ///
  /// - Parameters:
  ///   - service: The service.
  ///   - kind: Only items of this kind.
  ///   - details: What of each item to fetch.
  /// - Returns: The query.
  public static func service(
    _ service: String, kind: ItemKind? = nil, details: Details = []
  ) -> ItemQuery {
    ItemQuery(kind: kind, attributes: [AttributeName.service: service], details: details)
  }

  /// Whether the query names neither a key nor an attribute, so that it would select every item.
  public var namesNothing: Bool { key == nil && attributes.isEmpty }
}

extension ItemQuery {
  /// Tells whether an item is one that the query asks for.
  ///
  /// - Parameters:
  ///   - key: The key of the item.
  ///   - extra: The attributes of the item beside those of its key.
  /// - Returns: Whether kind, key and attributes all agree.
  package func matches(_ key: ItemKey, attributes extra: [String: String]) -> Bool {
    guard self.key == nil || self.key == key, kind == nil || kind == key.kind else { return false }
    return attributes.isContained(in: extra.merging(key.attributes) { $1 })
  }
}
