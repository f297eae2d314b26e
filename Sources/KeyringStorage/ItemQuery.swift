#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

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

  /// Only items with this label.
  public var label: String?

  /// Only items first stored in this time, in whole seconds, as keyrings keep it.
  public var created: ClosedRange<Date>?

  /// Only items last changed in this time, in whole seconds, as keyrings keep it.
  public var modified: ClosedRange<Date>?

  /// Whether attributes and label may differ in case.
  ///
  /// Keyrings cannot search so: every item of the collection is looked at, though not its secret.
  public var ignoresCase: Bool

  /// What of each item to fetch.
  public var details: Details

  /// The number of items to return at most, the newest ones; `nil` for all of them.
  public var limit: Int?

  /// Whether what is found locked is unlocked, asking the user if need be.
  ///
  /// With `false`, locked items come without their secrets and with as much else as the keyring
  /// tells of them; gnome-keyring tells nothing before it was first unlocked since log-in.
  public var unlocks: Bool

  /// Called now and then while a storage looks at the items that it has found.
  ///
  /// The arguments are the number of items that were looked at, and the number of those that will be. The
  /// numbers may begin again, as when the keyring has to be unlocked first.
  ///
  /// Only storages for which a list takes long call it: `SecretServiceStorage` does in queries without a key. A
  /// synchronous query calls it on its own thread. An asynchronous one calls it on another thread, leaves
  /// out what is out of date, perhaps also the last state, and ends after the last call has returned.
  ///
  /// Two queries are equal whatever they call.
  public var onProgress: (@Sendable (_ completed: Int, _ total: Int) -> Void)? {
    get { progress.handler }
    set { progress.handler = newValue }
  }

  private var progress = ProgressHandler()

  /// Whether a removal leaves what another program has put beside an item, which nobody has read.
  package var leavesOthers = false

  /// Makes a query.
  ///
  /// - Parameters:
  ///   - key: Only the item with this key.
  ///   - kind: Only items of this kind.
  ///   - attributes: Only items with these attributes.
  ///   - label: Only items with this label.
  ///   - created: Only items first stored in this time.
  ///   - modified: Only items last changed in this time.
  ///   - ignoresCase: Whether attributes and label may differ in case.
  ///   - details: What of each item to fetch.
  ///   - limit: The number of items to return at most, the newest ones.
  ///   - unlocks: Whether what is found locked is unlocked.
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
    unlocks: Bool = true
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
    self.unlocks = unlocks
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

  /// Whether the query names neither a key nor an attribute nor a label, so that it would select
  /// items that nobody has thought of.
  public var namesNothing: Bool { key == nil && attributes.isEmpty && label == nil }

  /// Whether the key alone, or the lack of any condition, decides what is selected.
  package var asksForKeyOnly: Bool {
    key != nil && kind == nil && attributes.isEmpty && label == nil && created == nil
      && modified == nil
  }
}

/// What tells an app how far a query has come; it has no part in what is selected.
private struct ProgressHandler: Sendable, Equatable {
  var handler: (@Sendable (Int, Int) -> Void)?

  static func == (_: ProgressHandler, _: ProgressHandler) -> Bool { true }
}

extension ItemQuery {
  /// Tells whether an item is one that the query asks for, byte by byte as every storage compares.
  ///
  /// This is how a storage that cannot search by itself finds items: it goes through all of them.
  ///
  /// - Parameter item: The item, with all its metadata.
  /// - Returns: Whether it agrees with every condition.
  public func matches(_ item: SecureItem) -> Bool {
    if let key, key != item.key { return false }
    if let kind, kind != item.key.kind { return false }
    if let label, !isSame(label, item.label) { return false }
    let all = (item.attributes ?? [:]).merging(item.key.attributes) { $1 }
    return attributes.allSatisfy { isSame($0.value, all.value(ofExactly: $0.key)) }
      && Self.contains(created, item.created) && Self.contains(modified, item.modified)
  }

  private func isSame(_ wanted: String, _ found: String?) -> Bool {
    guard let found else { return false }
    return ignoresCase ? wanted.lowercased() == found.lowercased() : wanted.isExactly(found)
  }

  private static func contains(_ range: ClosedRange<Date>?, _ date: Date?) -> Bool {
    guard let range else { return true }
    guard let second = date?.timeIntervalSince1970.rounded(.down) else { return false }
    return second >= range.lowerBound.timeIntervalSince1970.rounded(.down)
      && second <= range.upperBound.timeIntervalSince1970
  }
}
