#if SecretService && os(Linux)
internal import FoundationEssentials
internal import KeyringStorage

/// An item as the provider has it: what its properties say.
struct StoredItem {
  let path: ObjectPath
  /// The number that the path ends with; providers count them up.
  private let number: Int
  let attributes: [String: String]
  let label: String
  let isLocked: Bool
  /// The secret, if it was fetched.
  var secret: Secret?
  private let created: UInt64
  private let modified: UInt64

  /// `false` if the item can't have been found by its attributes.
  let showsAttributes: Bool
  /// The item's place in the list that it was found in.
  var place = 0

  /// Reads the answer to a request for all properties of an item; `nil` if it is no such answer.
  init?(path: ObjectPath, properties answer: Variant) {
    let properties = answer.child(0)
    guard let value = properties.member("Attributes", ofType: "a{ss}") else { return nil }
    let attributes = value.strings
    isLocked = properties.member("Locked", ofType: "b")?.bool ?? false
    showsAttributes = isLocked || !Provider.isBeingRemoved(attributes)
    self.path = path
    number = path.number
    self.attributes = Provider.removeAdditions(from: attributes)
    label = properties.member("Label", ofType: "s")?.text ?? ""
    created = properties.member("Created", ofType: "t")?.unsigned ?? 0
    modified = properties.member("Modified", ofType: "t")?.unsigned ?? 0
  }

  /// Reads the answer to a request for the attributes of an item; `nil` if it is no such answer.
  ///
  /// Everything else is unknown: label, times, and whether the item is locked.
  init?(path: ObjectPath, attributes answer: Variant) {
    let value = answer.child(0).child(0)
    guard value.isOfType("a{ss}") else { return nil }
    let attributes = value.strings
    isLocked = false
    showsAttributes = !Provider.isBeingRemoved(attributes)
    self.path = path
    number = path.number
    self.attributes = Provider.removeAdditions(from: attributes)
    label = ""
    (created, modified) = (0, 0)
  }

  /// Whether this package made the item.
  var isOwn: Bool { attributes[AttributeName.key] != nil }

  /// Whether an empty secret of this package's item is meant: a provider that dies may leave one.
  var hasEmptySecret: Bool { attributes[AttributeName.emptySecret] != nil }

  /// How many times items with this key were replaced by one with other attributes.
  ///
  /// A number that has no successor is none that this package has written.
  var revision: Int {
    let revision = attributes[AttributeName.revision].flatMap(Int.init) ?? 0
    return revision < .max ? max(revision, 0) : 0
  }

  /// Whether the item has all parts of a key, and is of this package.
  func isOwn(under key: ItemKey) -> Bool {
    key.ownAttributes.allSatisfy { attributes[$0.key]?.isExactly($0.value) == true }
  }

  /// Whether the item is another program's, and has all parts of a key.
  ///
  /// Items of ours that have the same parts belong to keys of another kind. And of a server every
  /// further part counts: the password of another port is another password.
  func isForeign(under key: ItemKey) -> Bool {
    !isOwn && (key.kind != .internetPassword || ItemKey(itemAttributes: attributes) == key)
  }

  /// Whether the provider hides what the attributes are.
  var hidesAttributes: Bool { isLocked && hasHiddenAttributes }

  /// Whether the attributes are hidden, as those of a locked item may be.
  var hasHiddenAttributes: Bool { Provider.hidesAttributes(attributes) }

  /// Whether python's keyring has put the item beside a password of ours.
  ///
  /// keyring 23.9.3 changes a password of ours by making an item with its attribute "application".
  /// Whatever else there is belongs to somebody who did not mean ours.
  func isPythonKeyringDuplicate(of key: ItemKey) -> Bool {
    key.kind == .password && !isOwn && Set(extraAttributes(of: key).keys) == ["application"]
  }

  func item(_ key: ItemKey, secret: Secret?, details: ItemQuery.Details) -> SecureItem {
    var item = SecureItem(key: key, secret: secret)
    guard details.contains(.metadata) else { return item }
    item.label = label
    item.attributes = extraAttributes(of: key)
    item.created = Date(timeIntervalSince1970: TimeInterval(created))
    item.modified = Date(timeIntervalSince1970: TimeInterval(modified))
    item.isLocked = isLocked
    return item
  }

  /// What a query is compared with.
  func metadata(_ key: ItemKey) -> SecureItem { item(key, secret: nil, details: .metadata) }

  /// The attributes beside the key's own and those that a storage adds.
  func extraAttributes(of key: ItemKey) -> [String: String] {
    attributes.filter {
      key.attributes[$0.key] == nil && !AttributeName.reserved.contains($0.key)
    }
  }

  /// Tells which of two items with the same key is valid.
  ///
  /// The order is total, so that everybody who meets both takes the same one. Ours comes before another
  /// program's, as when it is looked for by its key: keyring 23.9.3 puts its own beside ours when it
  /// changes a password. Of two that were made at the same moment the first is valid: the second is
  /// taken back by its maker, and so is never read.
  func replaces(_ other: StoredItem) -> Bool {
    if isOwn != other.isOwn { return isOwn }
    if revision != other.revision { return revision > other.revision }
    return (created, number, path.text) < (other.created, other.number, other.path.text)
  }

  /// Whether the item was created or changed so short a time ago.
  func wasChanged(within duration: Duration) -> Bool {
    if duration == .zero { return false }
    let age = Date().timeIntervalSince1970 - Double(max(created, modified))
    return age < Double(duration.components.seconds)
  }

  /// Tells which of two items was changed later, as far as whole seconds do.
  func isNewer(than other: StoredItem) -> Bool {
    (modified, created, number, path.text)
      > (other.modified, other.created, other.number, other.path.text)
  }

  /// Tells whether the item was changed in an earlier second than another one.
  func isOlder(than other: StoredItem) -> Bool { modified < other.modified }
}

extension ObjectPath {
  /// The number that the path ends with; 0 if it ends with none.
  fileprivate var number: Int {
    text.lastIndex(of: "/").flatMap { Int(text[text.index(after: $0)...]) } ?? 0
  }
}
#endif
