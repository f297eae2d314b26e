// SPDX-License-Identifier: Apache-2.0

internal import KeyringPlatform
internal import KeyringStorage

extension KeychainOperation {
  /// Finds the item of a key, with its attributes and perhaps its secret, which belong together.
  func item(for key: ItemKey, hasData: Bool) throws(SecureStorageError) -> KeychainItem? {
    guard var query = try query(for: key) else { return nil }
    query[.returnsAttributes] = .boolean(true)
    if hasData { query[.returnsData] = .boolean(true) }
    let itemClass = KeychainName(key, isFileBased: keychain.isFileBased).itemClass
    // The key stays as it was asked for: it may name the storage's own group.
    return try found(query).first.map {
      KeychainItem($0, key: key, itemClass: itemClass, hasData: hasData)
    }
  }

  /// Finds the items that match a query, newest first, but leaves out their secrets.
  func items(matching query: ItemQuery) throws(SecureStorageError) -> [KeychainItem] {
    if let key = query.key {
      return try item(for: key, hasData: false).map { query.matches($0.item) ? [$0] : [] } ?? []
    }
    // An ended program may have left its probe.
    let hasProbes = query.attributes[AttributeName.service] != nil
    var items: [KeychainItem] = []
    var keys: Set<ItemKey> = []
    for var search in searches(for: query) {
      search[.limit] = .constant(.limitAll)
      search[.returnsAttributes] = .boolean(true)
      search[.returnsPersistentReference] = .boolean(true)
      guard case .constant(let itemClass)? = search[.itemClass] else { continue }
      let found = try found(search)
      guard !found.isEmpty else { continue }
      let group = keychain.isFileBased ? nil : try ownGroup()
      for entries in found {
        // A second item of a key can only be in another file, and isn't the one that reading finds.
        guard
          let key = ItemKey(
            entries, of: itemClass, isFileBased: keychain.isFileBased, ownGroup: group),
          hasProbes || key.service != Self.probeService, keys.insert(key).inserted
        else { continue }
        items.append(KeychainItem(entries, key: key, itemClass: itemClass, hasData: false))
      }
    }
    return Array(
      items.filter { query.matches($0.item) }
        .sorted { ($1.item.modified ?? .distantPast) < ($0.item.modified ?? .distantPast) }
        .prefix(query.limit ?? .max))
  }

  private static let probeService = ItemKey.probe().service

  /// Returns searches that together find every item that can match.
  private func searches(for query: ItemQuery) -> [KeychainDictionary] {
    var generic: KeychainDictionary = [.itemClass: .constant(.genericPassword)]
    var internet: KeychainDictionary = [.itemClass: .constant(.internetPassword)]
    if let label = query.label, !query.ignoresCase {
      generic[.label] = .text(KeychainText.stored(label))
      internet[.label] = generic[.label]
    }
    var searches = [generic]
    if !query.ignoresCase, let service = query.attributes.value(ofExactly: AttributeName.service) {
      // An item whose key has no service can have one among its other attributes.
      searches = ["", KeychainText.stored(service)].map { service in
        generic.merging([.service: .text(service)]) { $1 }
      }
    }
    if query.kind ?? .internetPassword == .internetPassword { searches.append(internet) }
    return searches
  }

  /// Finds an item again, with its secret, or returns `nil` for one that was deleted or has another key by now.
  func withSecret(_ item: KeychainItem) throws(SecureStorageError) -> KeychainItem? {
    guard let reference = item.reference else {
      return try self.item(for: item.item.key, hasData: true)
    }
    let query: KeychainDictionary = [
      .persistentReference: reference, .returnsAttributes: .boolean(true),
      .returnsData: .boolean(true),
    ]
    let key = item.item.key
    let itemClass = KeychainName(key, isFileBased: keychain.isFileBased).itemClass
    let isFileBased = keychain.isFileBased
    guard let found = try found(query).first,
      ItemKey(
        found, of: itemClass, isFileBased: isFileBased, ownGroup: isFileBased ? nil : knownGroup)
        == key
    else { return nil }
    return KeychainItem(found, key: key, itemClass: itemClass, hasData: true)
  }
}
