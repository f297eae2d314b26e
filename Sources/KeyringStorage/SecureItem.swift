#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// One item of a storage, or as much of it as somebody asked for or wants to change.
///
/// What is `nil` is not part of the value: in an item that was found it was not asked for, in an
/// item to be saved it stays as it is.
public struct SecureItem: Sendable, Equatable {
  /// What makes the item unique.
  public var key: ItemKey

  /// The secret itself.
  public var secret: Secret?

  /// The name that keyring managers show to the user.
  ///
  /// It is never empty, and has no "/", of which KWallet makes folders. A new item that is saved
  /// without one gets a label from its key.
  public var label: String?

  /// The searchable attributes beside the key's own parts.
  ///
  /// They are stored in the clear: never put a secret in them. Saving sets the ones named here and
  /// keeps the others.
  public var attributes: [String: String]?

  /// When the item was first stored, as the storage tells it; not saved.
  public var created: Date?

  /// When the item was last changed, as the storage tells it; not saved.
  public var modified: Date?

  /// Whether the item is locked, so that its secret cannot be read; not saved.
  public var isLocked: Bool?

  /// Makes an item.
  ///
  /// - Parameters:
  ///   - key: What makes the item unique.
  ///   - secret: The secret.
  ///   - label: The name that keyring managers show.
  ///   - attributes: Searchable attributes beside the key's parts; stored in the clear.
  ///   - created: When the item was first stored.
  ///   - modified: When the item was last changed.
  ///   - isLocked: Whether the item is locked.
  public init(
    key: ItemKey,
    secret: Secret? = nil,
    label: String? = nil,
    attributes: [String: String]? = nil,
    created: Date? = nil,
    modified: Date? = nil,
    isLocked: Bool? = nil
  ) {
    self.key = key
    self.secret = secret
    self.label = label
    self.attributes = attributes
    self.created = created
    self.modified = modified
    self.isLocked = isLocked
  }

  /// What the item is about, in its owner's words: the attribute "comment", stored in the clear.
  ///
  /// Setting `nil` makes it empty.
  public var comment: String? {
    get { attributes?[AttributeName.comment] }
    set { attributes = (attributes ?? [:]).merging([AttributeName.comment: newValue ?? ""]) { $1 } }
  }
}

extension SecureItem {
  /// The item with nothing but what a query asks for, as a storage hands it out.
  ///
  /// - Parameter details: What is asked for; the key is always there.
  /// - Returns: The item without the rest.
  public func limited(to details: ItemQuery.Details) -> SecureItem {
    var item = details.contains(.metadata) ? self : SecureItem(key: key)
    item.secret = details.contains(.secret) ? secret : nil
    return item
  }
}

extension ItemKey {
  /// The label of a new item that was saved without one: the service and what the item is within it.
  public var defaultLabel: String {
    let service = attributes[AttributeName.service]
    let others = attributes.filter { $0.key != AttributeName.service }
      .sorted { $0.key < $1.key }.map(\.value)
    let label = ([service].compactMap(\.self) + others).joined(separator: ": ")
    // Scalar by scalar: a slash with a combining mark is another character, but still a slash.
    return String(String.UnicodeScalarView(label.unicodeScalars.map { $0 == "/" ? "-" : $0 }))
  }
}
