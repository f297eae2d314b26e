#if SecretService && os(Linux)
internal import KeyringStorage

extension Call {
  /// Finds the items with these keys, in as many steps as it takes to find one: the usual read.
  func items(
    for keys: [ItemKey], _ details: ItemQuery.Details
  ) throws(SecureStorageError) -> [ItemKey: SecureItem] {
    let keys = Array(Set(keys))
    if keys.isEmpty { return [:] }
    let found = Dictionary(uniqueKeysWithValues: zip(keys, try search(keys.map(\.ownAttributes))))
    var items = try plainItems(found.compactMapValues(\.onlyItem), details)

    let unknown = keys.filter { items[$0] == nil && found[$0]?.isEmpty == true }
    let foreign = try unknown.isEmpty ? [] : search(unknown.map(\.attributes))
    let absent = Set(zip(unknown, foreign).filter { $1.isEmpty }.map { $0.0 })
    // What takes a closer look: several items, another program's, one that has just vanished.
    for key in keys where items[key] == nil && !absent.contains(key) {
      items[key] = try selectedItems(matching: .key(key, details: details)).first
    }
    return items
  }

  /// Fetches what is wanted of items of ours; what has vanished is left out.
  private func plainItems(
    _ found: [ItemKey: (path: ObjectPath, isLocked: Bool)], _ details: ItemQuery.Details
  ) throws(SecureStorageError) -> [ItemKey: SecureItem] {
    if details.isEmpty {
      return Dictionary(uniqueKeysWithValues: found.keys.map { ($0, SecureItem(key: $0)) })
    }
    try unlock(found.values.filter(\.isLocked).map(\.path))
    let (keys, paths) = (Array(found.keys), found.values.map(\.path))
    var stored: [ObjectPath: StoredItem] = [:]
    if details.contains(.metadata) {
      for (path, answer) in zip(paths, try send(paths.map { .properties(of: $0) })) {
        stored[path] = answer.flatMap { StoredItem(path: path, isLocked: false, properties: $0) }
      }
    }
    let secrets = details.contains(.secret) ? try secrets(of: paths) : [:]
    var items: [ItemKey: SecureItem] = [:]
    for (key, path) in zip(keys, paths) {
      if details.contains(.secret), secrets[path] == nil { continue }
      if !details.contains(.metadata) {
        items[key] = SecureItem(key: key, secret: secrets[path])
      } else {
        items[key] = stored[path]?.item(key, secret: secrets[path], details: details)
      }
    }
    return items
  }
}

extension Call.Found {
  /// The item, if there is just one.
  fileprivate var onlyItem: (path: ObjectPath, isLocked: Bool)? {
    guard unlocked.count + locked.count == 1 else { return nil }
    return unlocked.first.map { ($0, false) } ?? locked.first.map { ($0, true) }
  }
}
#endif
