#if SecretService && os(Linux)
internal import KeyringStorage

/// What is known of an item, so that it can be told what has changed; never its secret.
struct KnownItem {
  /// `nil` where the provider does not tell before it is unlocked, or the item is of no kind we know.
  let key: ItemKey?
  /// Whether this package made the item, so that nobody finds it under another key.
  let isOwn: Bool
  let isLocked: Bool
  /// Differs where label, attributes or times do.
  let fingerprint: Int
}

/// The items of a collection by their paths, which are all that a signal names.
struct KnownItems {
  /// What became of an item, `nil` if it is gone; whether it has changed even if it looks the same.
  typealias News = (path: ObjectPath, item: KnownItem?, isCertain: Bool)

  private var items: [ObjectPath: KnownItem] = [:]
  /// Several paths for one key while an item is being replaced by one with other attributes.
  private var paths: [ItemKey: Set<ObjectPath>] = [:]

  init() {}

  init(_ found: [ObjectPath: KnownItem]) {
    for (path, item) in found { set(item, at: path) }
  }

  subscript(path: ObjectPath) -> KnownItem? { items[path] }

  private mutating func set(_ item: KnownItem?, at path: ObjectPath) {
    if let key = items[path]?.key {
      paths[key]?.remove(path)
      if paths[key]?.isEmpty == true { paths[key] = nil }
    }
    items[path] = item
    if let key = item?.key { paths[key, default: []].insert(path) }
  }

  /// Takes over what signals were about, and tells what that changes: once for each key, whatever
  /// the provider has sent for it.
  ///
  /// - Parameter news: The items as they are now.
  /// - Returns: The changes.
  mutating func update(_ news: [News]) -> [ItemChange] {
    var touched: [ItemKey] = []
    var wasThere: [ItemKey: Bool] = [:]
    var rewritten: Set<ItemKey> = []
    func touch(_ key: ItemKey?, isKnown: Bool = false) {
      guard let key, wasThere[key] == nil else { return }
      wasThere[key] = isKnown || paths[key] != nil
      touched.append(key)
    }
    for (path, new, isCertain) in news {
      let old = items[path]
      touch(old?.key)
      // What was locked has told its key only now.
      touch(new?.key, isKnown: old?.isUnnamed == true)
      if let key = new?.key, old?.isUnnamed != true,
        isCertain || new?.fingerprint != old?.fingerprint
      {
        rewritten.insert(key)
      }
      set(new, at: path)
      // What is found then is another program's, which was there all the time.
      if let old, old.isOwn, new == nil, let key = old.key,
        paths[key]?.contains(where: { items[$0]?.isOwn == true }) != true
      {
        rewritten.insert(key)
      }
    }
    return touched.compactMap { key in
      switch (wasThere[key] == true, paths[key] != nil) {
      case (false, true): .created(key)
      case (true, false): .removed(key)
      case (true, true): rewritten.contains(key) ? .replaced(key) : nil
      case (false, false): nil
      }
    }
  }

  /// Takes over all items, read again, and tells what is different.
  ///
  /// Paths mean nothing here: a provider that was restarted may have given others.
  ///
  /// - Parameters:
  ///   - found: All items.
  ///   - certain: Those that have changed even if they look the same.
  ///   - mayHideSome: Whether some of those that are not known were there before.
  /// - Returns: The changes.
  mutating func replaceAll(
    by found: [ObjectPath: KnownItem], certain: Set<ObjectPath> = [], mayHideSome: Bool = false
  ) -> [ItemChange] {
    let old = self
    self = KnownItems(found)
    let keys = Set(old.paths.keys).union(paths.keys)
    return keys.compactMap { key in
      guard let oldPaths = old.paths[key] else {
        let isOld = paths[key]?.allSatisfy { path in
          old[path]?.isUnnamed == true || mayHideSome && !certain.contains(path)
        }
        return isOld == true ? nil : .created(key)
      }
      guard let newPaths = paths[key] else { return .removed(key) }
      let isSame =
        Set(oldPaths.map { old[$0]?.fingerprint }) == Set(newPaths.map { items[$0]?.fingerprint })
      return isSame && newPaths.isDisjoint(with: certain) ? nil : .replaced(key)
    }
  }
}

extension KnownItem {
  /// gnome-keyring hides the attributes of an item until its first unlock since log-in.
  fileprivate var isUnnamed: Bool { key == nil && isLocked }
}
#endif
