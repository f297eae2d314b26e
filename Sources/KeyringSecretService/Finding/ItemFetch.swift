// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
internal import KeyringStorage

extension ItemQuery.Details {
  /// The attributes alone, which determine the key.
  ///
  /// The metadata includes them.
  static let attributes = ItemQuery.Details(rawValue: 1 << 8)
}

/// The messages that request details of items; all of them are sent concurrently.
struct ItemFetch {
  let paths: [ObjectPath]
  let details: ItemQuery.Details
  let messages: [MethodCall]
  /// The groups of items whose secrets the last messages request, one group for each message.
  let groups: [ArraySlice<ObjectPath>]

  init(_ paths: [ObjectPath], _ details: ItemQuery.Details, in session: SecretSession) {
    self.paths = paths
    self.details = details
    // An answer above 64 MiB ends the provider's connection, and some providers end with it. Each group is
    // small enough for its answer to stay below that size if every secret is as large as it can be.
    let size = (60 << 20) / ItemLimits.secretBytes
    groups =
      details.contains(.secret)
      ? stride(from: 0, to: paths.count, by: size).map { paths[$0...].prefix(size) } : []
    let items =
      if details.contains(.metadata) {
        paths.map { MethodCall.properties(of: $0) }
      } else if details.contains(.attributes) {
        paths.map { MethodCall.attributes(ofItem: $0) }
      } else {
        [MethodCall]()
      }
    messages = items + groups.map { .getSecrets(Array($0), session: session.path) }
  }
}

/// The fetched details of items, by path.
struct FetchedItems {
  var properties: [ObjectPath: StoredItem] = [:]
  var secrets: [ObjectPath: Secret] = [:]
  /// Items of this package whose secret was lost, because the provider died first.
  var incomplete: Set<ObjectPath> = []

  /// Returns the provider's item at a path, or `nil` for a deleted one.
  func stored(at path: ObjectPath) -> StoredItem? {
    let item = properties[path]
    item?.secret = secrets[path]
    return item
  }

  /// The items for which more than the attributes must be fetched.
  ///
  /// Their attributes are hidden, or leave open which of several items of this package with the same
  /// key is the valid one.
  var unclear: [ObjectPath] {
    let hidden = properties.values.filter { !$0.showsAttributes || $0.hasHiddenAttributes }
    let own = Dictionary(grouping: properties.values.filter(\.isOwn), by: \.key)
    return hidden.map(\.path) + own.values.filter { $0.count > 1 }.joined().map(\.path)
  }

  /// The items without attributes: another look tells those that have none from those that are being removed.
  var withoutAttributes: [ObjectPath] {
    properties.values.filter { !$0.showsAttributes }.map(\.path)
  }

  /// Replaces the properties of items with properties that were fetched later.
  mutating func update(_ paths: [ObjectPath], from other: FetchedItems) {
    for path in paths { properties[path] = other.properties[path] }
  }

  /// Returns the item at a path with the requested details.
  ///
  /// The result is `nil` for an item that was deleted or is locked, whose details are unavailable.
  func item(_ key: ItemKey, at path: ObjectPath, _ details: ItemQuery.Details) -> SecureItem? {
    if details.contains(.secret), secrets[path] == nil { return nil }
    guard details.contains(.metadata) else { return SecureItem(key: key, secret: secrets[path]) }
    guard let stored = properties[path], !stored.isLocked, stored.showsAttributes else {
      return nil
    }
    return stored.item(key, secret: secrets[path], details: details)
  }
}
#endif
