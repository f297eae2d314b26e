// SPDX-License-Identifier: Apache-2.0

internal import KeyringStorage

/// A source of items in another storage.
struct StorageMigrationSource: MigrationSource {
  enum Selection: Sendable {
    case query(ItemQuery)
    case keys([ItemKey])
    /// Items that get other keys in the same storage.
    case renamed([ItemKey: ItemKey])
  }

  let base: any SecureStorage
  let selection: Selection

  var storage: (any SecureStorage)? { if case .renamed = selection { nil } else { base } }

  func items(moving isMoving: Bool) throws(SecureStorageError) -> [SecureItem] {
    var items: [SecureItem] = []
    let newKeys = newKeys
    try checkNewKeys(newKeys)
    switch selection {
    case .query(var query):
      query.details = .all
      query.allowsUnlocking = true
      query.leavesForeignItems = true
      items = try base.items(matching: query)
    case .renamed(let newKeys):
      let found = try base.items(for: Array(newKeys.keys), details: .all)
      let present = try base.items(for: Array(newKeys.values), details: .metadata)
      items = found.values.filter { item in
        newKeys[item.key].flatMap { present[$0] }.map(item.isSame) != true
      }.sorted { $0.key.description < $1.key.description }
    case .keys(let keys):
      let found = try base.items(for: keys, details: .all)
      var seen: Set<ItemKey> = []
      items = keys.filter { seen.insert($0).inserted }.compactMap { found[$0] }
    }
    for item in items where isMoving && item.hasFurtherSecrets {
      throw base.error(
        .other, during: .remove,
        message:
          "The item of \("\(item.key)".excerpt) also has one-time codes or a passkey, which a move would lose.",
        recoverySuggestion: "Copy it, or move it in your keyring manager.")
    }
    for item in items where item.secret == nil {
      throw base.error(
        .locked, during: .read,
        message: "The secret of \("\(item.key)".excerpt) can't be read, because it's locked.")
    }
    return items.map { item in
      var item = item.sanitized
      guard let newKey = newKeys[item.key] else { return item }
      // The storage makes such a label from the new key.
      if item.label == item.key.defaultLabel { item.label = nil }
      item.key = newKey
      return item
    }
  }

  func leftItems() throws(SecureStorageError) -> [ItemKey] {
    guard case .query(var query) = selection else { return [] }
    (query.details, query.limit, query.allowsUnlocking) = ([], nil, false)
    return try base.items(matching: query).filter(\.isForeign).map(\.key)
  }

  private var newKeys: [ItemKey: ItemKey] {
    if case .renamed(let newKeys) = selection { newKeys } else { [:] }
  }

  /// Throws an error if an item could be taken for another one whose key changes, too.
  private func checkNewKeys(_ newKeys: [ItemKey: ItemKey]) throws(SecureStorageError) {
    let all = Set(newKeys.keys).union(newKeys.values)
    guard all.count == 2 * newKeys.count, newKeys.allSatisfy({ $0.key.kind == $0.value.kind })
    else {
      throw base.error(
        .invalidArgument, during: .migrate,
        message: "Each item must get another key of its kind, which no other item gets or has.",
        argument: "keys")
    }
  }

  func remove(_ items: [SecureItem], _ done: () -> Void) throws(SecureStorageError) -> Int {
    let oldKeys = Dictionary(uniqueKeysWithValues: newKeys.map { ($1, $0) })
    let items = items.map { item in
      var item = item
      item.key = oldKeys[item.key] ?? item.key
      return item
    }
    // The first item is compared right before it's removed.
    for batch in Array(items.dropFirst()).batches { try compare(batch) }
    var count = 0
    for item in items {
      // The removal of the others may have taken long, and a user may have been asked in the meantime.
      try compare([item])
      var query = ItemQuery.key(item.key)
      query.leavesOthers = true
      if try base.removeItems(matching: query) > 0 { count += 1 }
      done()
    }
    try verifyRemoval(of: items)
    return count
  }

  /// Throws an error if the source still has the secret of an item, found in the way in which the items were found.
  ///
  /// An item that another program has put beside it isn't a copy, and stays.
  private func verifyRemoval(of items: [SecureItem]) throws(SecureStorageError) {
    let found: [SecureItem]
    if case .query(var query) = selection {
      (query.details, query.limit, query.allowsUnlocking) = (.all, nil, true)
      query.leavesForeignItems = true
      found = try base.items(matching: query)
    } else {
      found = Array(try base.items(for: items.map(\.key), details: .all).values)
    }
    let secrets = Dictionary(items.map { ($0.key, $0.secret) }) { first, _ in first }
    let kept = found.first { item in
      !item.isForeign && !item.isShared && secrets[item.key] == .some(item.secret)
    }
    guard let kept else { return }
    throw base.error(
      .verificationFailed, during: .remove,
      message:
        "The source still has the item of \("\(kept.key)".excerpt), although it was removed.",
      recoverySuggestion:
        "The item is in the destination, too. Remove it by the program that stored it.")
  }

  /// Compares items with the source as it is now.
  private func compare(_ items: some Collection<SecureItem>) throws(SecureStorageError) {
    let found = try base.items(for: items.map(\.key), details: .all)
    for item in items {
      guard let now = found[item.key]?.sanitized else { continue }
      let isSame =
        now.secret == item.secret && (now.attributes ?? [:]).hasSameBytes(item.attributes ?? [:])
      guard isSame else { throw .sourceChanged("\(item.key)".excerpt, base.backendName) }
    }
  }
}
