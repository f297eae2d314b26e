// SPDX-License-Identifier: Apache-2.0

internal import KeyringStorage

/// A source of items in another storage.
struct StorageMigrationSource: MigrationSource {
  enum Selection: Sendable {
    case query(ItemQuery)
    case keys([ItemKey])
  }

  let base: any SecureStorage
  let selection: Selection

  var storage: (any SecureStorage)? { base }

  func items() throws(SecureStorageError) -> [SecureItem] {
    var items: [SecureItem] = []
    switch selection {
    case .query(var query):
      query.details = .all
      query.allowsUnlocking = true
      items = try base.items(matching: query)
    case .keys(let keys):
      let found = try base.items(for: keys, details: .all)
      var seen: Set<ItemKey> = []
      items = keys.filter { seen.insert($0).inserted }.compactMap { found[$0] }
    }
    for item in items where item.secret == nil {
      throw base.error(
        .locked, during: .read,
        message: "The secret of \(item.key) can't be read, because it's locked.")
    }
    return items.map(\.sanitized)
  }

  func remove(_ items: [SecureItem], _ done: () -> Void) throws(SecureStorageError) {
    // The first item is compared right before it's removed.
    for batch in Array(items.dropFirst()).batches { try compare(batch) }
    for item in items {
      // The removal of the others may have taken long, and a user may have been asked in the meantime.
      try compare([item])
      var query = ItemQuery.key(item.key)
      query.leavesOthers = true
      try base.removeItems(matching: query)
      done()
    }
  }

  /// Compares items with the source as it is now.
  private func compare(_ items: some Collection<SecureItem>) throws(SecureStorageError) {
    let found = try base.items(for: items.map(\.key), details: .all)
    for item in items {
      guard let now = found[item.key]?.sanitized else { continue }
      let isSame =
        now.secret == item.secret && (now.attributes ?? [:]).hasSameBytes(item.attributes ?? [:])
      guard isSame else { throw .sourceChanged("\(item.key)", base.backendName) }
    }
  }
}
