// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
internal import KeyringPlatform
internal import KeyringStorage

/// An item with the properties that the provider reports.
///
/// It's a class because many frames of a waiting task have room for an item.
final class StoredItem {
  let path: ObjectPath
  /// The number at the end of the path, which providers count up, or 0 if there is none.
  private let number: Int
  let attributes: [String: String]
  /// The attributes as the provider reports them, with those that it adds.
  let reportedAttributes: [String: String]
  let label: String
  let isLocked: Bool
  /// The secret, if it was fetched.
  var secret: Secret?
  let created: UInt64
  let modified: UInt64

  /// `true` for an item of this package.
  let isOwn: Bool
  /// `true` for an item with further secrets, which a new item would lack.
  let hasFurtherSecrets: Bool
  /// The number of times that an item with this key was replaced by one with other attributes.
  ///
  /// The largest number, which has no successor, is another program's and is read as 0.
  let revision: Int
  /// `true` for an item that can be found by its attributes.
  let showsAttributes: Bool
  /// `true` for a locked item whose attributes the provider hides.
  let hidesAttributes: Bool
  /// The item's place in the list in which it was found.
  var place = 0

  /// Creates an item from the answer to a request for all properties, or for the attributes alone.
  ///
  /// The attributes alone leave the label, the times and the lock state unknown. The properties of a locked
  /// item may lack the attributes. The item lacks the reserved attributes, which the provider adds, and
  /// the number in the label of this package's item. The initializer returns `nil` for any other answer.
  init?(path: ObjectPath, answer: Variant, from provider: Provider) {
    let value = answer.child(0)
    var found: [String: String]?
    var (isLocked, label, created, modified) = (false, "", UInt64(0), UInt64(0))
    if value.isOfType("a{sv}") {
      value.forEachMember { name, value in
        switch name {
        case "Attributes" where value.isOfType("a{ss}"): found = value.strings
        case "Locked" where value.isOfType("b"): isLocked = value.bool
        case "Label" where value.isOfType("s"): label = value.text
        case "Created" where value.isOfType("t"): created = value.unsigned
        case "Modified" where value.isOfType("t"): modified = value.unsigned
        default: break
        }
      }
    } else if let attributes = value.isOfType("v") ? value.child(0) : nil,
      attributes.isOfType("a{ss}")
    {
      found = attributes.strings
    }
    guard found != nil || isLocked else { return nil }
    let attributes = found ?? [:]
    reportedAttributes = attributes
    showsAttributes = isLocked || !Provider.isBeingRemoved(attributes)
    self.path = path
    let name = path.text.lastIndex(of: "/").map { path.text[$0...].dropFirst() }
    number = name.flatMap { Int($0) } ?? 0
    self.attributes =
      provider.addsAttributes ? attributes.filter { !provider.reserves($0.key) } : attributes
    hasFurtherSecrets =
      provider.addsAttributes
      && attributes.contains { provider.keepsSecret(inAttribute: $0.key) }
    hidesAttributes = isLocked && (found == nil || Provider.hidesAttributes(self.attributes))
    isOwn = self.attributes[AttributeName.key] != nil
    let revision = self.attributes[AttributeName.revision].flatMap(Int.init) ?? 0
    self.revision = revision < .max ? max(revision, 0) : 0
    let hasNumber = provider.numbersLabels && isOwn
    self.label = hasNumber ? Provider.withoutNumber(label) : label
    (self.isLocked, self.created, self.modified) = (isLocked, created, modified)
  }

  /// The key of the item, and whether the item is another program's own.
  private lazy var identity: (key: ItemKey?, isForeign: Bool) =
    if let signature = attributes[AttributeName.key] {
      (ItemKey(signature: signature, attributes), false)
    } else if hidesAttributes {
      (nil, false)
    } else {
      ItemKey.ofAnotherProgram(attributes)
    }

  /// The key of the item, or `nil` for hidden attributes and for an unknown kind of this package.
  var key: ItemKey? { identity.key }

  /// `true` for another program's own item, which only a key with all of its attributes finds.
  var isForeign: Bool { !isOwn && identity.isForeign }

  /// The schema of the item, if any.
  var schema: String? { attributes[AttributeName.schema] }

  /// `true` for an item of this package that is meant to have an empty secret.
  ///
  /// A provider that dies may leave an empty secret behind.
  var hasEmptySecret: Bool { attributes[AttributeName.emptySecret] != nil }

  /// The time at which the item, or the one that it replaced, was first stored, in seconds since 1970.
  var firstStored: UInt64 { attributes[AttributeName.firstStored].flatMap(UInt64.init) ?? created }

  /// `true` for an item that has taken the place of another program's, which may still be there.
  var isSuccessor: Bool { attributes[AttributeName.successor] != nil }

  /// Returns `true` for another program's item that a key means.
  ///
  /// An item that says more about itself, known to this package or unknown, is another item.
  func isShared(under key: ItemKey) -> Bool {
    !isOwn && key.means(itemOfAnotherProgram: attributes)
  }

  /// Returns `true` for another program's item that goes with this package's under a key.
  ///
  /// Python's keyring, for example, changes a password of this package by storing an item beside it. An item with another
  /// login, or one that keys of another kind or schema mean, too, is left, and so is one that has further secrets.
  func goesWith(_ own: [StoredItem], under key: ItemKey) -> Bool {
    guard isShared(under: key), !hasFurtherSecrets, let usual = self.key else { return false }
    if own.contains(where: \.isSuccessor) { return true }
    // An item that is another program's own has no kind.
    let isMeant = isForeign ? usual.schema == key.schema : usual == key
    return isMeant && (key.kind != .credentials || login == own.first?.login)
  }

  private var login: String? { attributes[AttributeName.username] }

  /// `true` for hidden attributes, as a locked item may have.
  var hasHiddenAttributes: Bool { Provider.hidesAttributes(attributes) }

  func item(_ key: ItemKey, secret: Secret?, details: ItemQuery.Details) -> SecureItem {
    var item = SecureItem(key: key, secret: secret)
    item.isForeign = isForeign
    item.isShared = !isOwn
    item.hasFurtherSecrets = hasFurtherSecrets
    guard details.contains(.metadata) else { return item }
    item.label = label
    // Neither those of the key nor those that a storage adds.
    item.attributes = attributes.filter {
      key.attributes[$0.key] == nil && !AttributeName.isReserved($0.key)
    }
    item.created = Date(timeIntervalSince1970: TimeInterval(firstStored))
    item.modified = Date(timeIntervalSince1970: TimeInterval(modified))
    item.isLocked = isLocked
    return item
  }

  /// Returns the item without its secret, for comparison with a query.
  func metadata(_ key: ItemKey) -> SecureItem { item(key, secret: nil, details: .metadata) }

  /// Returns `true` for an item with the same attributes that may be this one, perhaps under an earlier path.
  ///
  /// Other programs may have stored several items with the same attributes.
  func mayBeSame(as other: StoredItem) -> Bool {
    path == other.path || other.created == 0
      || (created, label) == (other.created, other.label)
  }

  /// Returns `true` if this item wins over another with the same key.
  ///
  /// The order is total, so that every program that finds both items uses the same one. This package's own
  /// item comes before another program's, as in a search by key. Of two items that were created at the same moment, the
  /// first wins. The second is removed by the process that created it, so it's never read.
  func replaces(_ other: StoredItem) -> Bool {
    if isOwn != other.isOwn { return isOwn }
    if revision != other.revision { return revision > other.revision }
    return (created, number, path.text) < (other.created, other.number, other.path.text)
  }

  /// Returns `true` for an item that was created less than a duration ago.
  ///
  /// It may have been changed since. Its earlier secret may still be the one on disk.
  func wasCreated(within duration: Duration) -> Bool { Self.age(created) < duration }

  /// Returns `true` for an item that was changed in a given time before now.
  func wasModified(within duration: Duration) -> Bool { Self.age(modified) < duration }

  private static func age(_ seconds: UInt64) -> Duration {
    .seconds(Date().timeIntervalSince1970 - Double(seconds))
  }

  /// Returns `true` if this item was changed later than another one.
  ///
  /// The times are whole seconds.
  func isNewer(than other: StoredItem) -> Bool {
    (modified, created, number, path.text)
      > (other.modified, other.created, other.number, other.path.text)
  }

  /// Returns `true` if this item was changed in an earlier second than another one.
  func isOlder(than other: StoredItem) -> Bool { modified < other.modified }
}
#endif
