// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
internal import KeyringStorage

/// The known state of an item, without its secret.
///
/// A comparison of two states shows the changes.
struct KnownItem {
  /// The key of the item, or `nil` for an unknown one.
  ///
  /// It's unknown if the provider reveals it only after an unlock, or if the package doesn't know the
  /// item's kind.
  let key: ItemKey?
  /// `true` for an item of this package, which only its key finds.
  let isOwn: Bool
  let isLocked: Bool
  /// A hash that differs if the label, the attributes or the times differ.
  ///
  /// It's `nil` if the item may have changed although they're the same.
  var fingerprint: Int?
  /// `true` for an item that may have changed again and kept its fingerprint.
  ///
  /// Keyrings keep times in whole seconds, and the item was read in the second of its last change.
  let isRecent: Bool

  /// `true` for a locked item with a hidden key.
  ///
  /// Some providers hide the attributes of an item until its first unlock since login.
  var isUnnamed: Bool { key == nil && isLocked }
}

/// The items of a collection, by their paths.
///
/// A signal names only a path.
struct ItemSnapshot {
  /// The new state of an item, or `nil` for a deleted one.
  ///
  /// `isConfirmed` is `true` if the item has changed even if it looks the same.
  typealias Update = (path: ObjectPath, item: KnownItem?, isConfirmed: Bool)

  private var items: [ObjectPath: KnownItem] = [:]
  /// The paths of the items with each key.
  ///
  /// A key has several paths while an item is being replaced with one that has other attributes.
  private var paths: [ItemKey: Set<ObjectPath>] = [:]

  init(_ found: [ObjectPath: KnownItem] = [:]) {
    for (path, item) in found { set(item, at: path) }
  }

  subscript(path: ObjectPath) -> KnownItem? { items[path] }

  /// Returns `true` for a key that an item has.
  func contains(_ key: ItemKey) -> Bool { paths[key] != nil }

  private mutating func set(_ item: KnownItem?, at path: ObjectPath) {
    if let key = items[path]?.key {
      paths[key]?.remove(path)
      if paths[key]?.isEmpty == true { paths[key] = nil }
    }
    items[path] = item
    if let key = item?.key { paths[key, default: []].insert(path) }
  }

  /// Reports items as changed when they're next compared, even if they look the same.
  ///
  /// - Parameter isDoubtful: A closure that returns `true` for an item that may have changed without a signal.
  mutating func doubt(where isDoubtful: (ObjectPath, KnownItem) -> Bool) {
    for (path, item) in items where isDoubtful(path, item) { items[path]?.fingerprint = nil }
  }

  /// Updates the items that signals have named, and returns the changes.
  ///
  /// There is at most one change for each key, regardless of the signals that the provider has sent for it.
  ///
  /// - Parameter updates: The current states of the items.
  /// - Returns: The changes.
  mutating func update(_ updates: [Update]) -> [ItemChange] {
    var touched: [ItemKey] = []
    var wasThere: [ItemKey: Bool] = [:]
    var rewritten: Set<ItemKey> = []
    func touch(_ key: ItemKey?, isKnown: Bool = false) {
      guard let key, wasThere[key] == nil else { return }
      wasThere[key] = isKnown || paths[key] != nil
      touched.append(key)
    }
    for (path, new, isConfirmed) in updates {
      let old = items[path]
      touch(old?.key)
      // An item that was locked reveals its key only now.
      touch(new?.key, isKnown: old?.isUnnamed == true)
      if let key = new?.key, old?.isUnnamed != true,
        isConfirmed || new?.fingerprint != old?.fingerprint
      {
        rewritten.insert(key)
      }
      set(new, at: path)
      // The key now finds an item of another program, which existed all the time.
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

  /// Replaces all items with items that were read again, and returns the changes.
  ///
  /// Paths are left out of this comparison, because a restarted provider may have assigned new ones.
  ///
  /// - Parameters:
  ///   - found: All items.
  ///   - confirmed: The paths of the items that have changed even if they look the same.
  ///   - mayHideSome: Whether unknown items may have existed before.
  /// - Returns: The changes.
  mutating func replaceAll(
    by found: [ObjectPath: KnownItem], confirmed: Set<ObjectPath> = [], mayHideSome: Bool = false
  ) -> [ItemChange] {
    let old = self
    self = ItemSnapshot(found)
    let keys = Set(old.paths.keys).union(paths.keys)
    return keys.compactMap { key in
      guard let oldPaths = old.paths[key] else {
        let isOld = paths[key]?.allSatisfy { path in
          old[path]?.isUnnamed == true || mayHideSome && !confirmed.contains(path)
        }
        return isOld == true ? nil : .created(key)
      }
      guard let newPaths = paths[key] else { return .removed(key) }
      let isSame =
        Set(oldPaths.map { old[$0]?.fingerprint }) == Set(newPaths.map { items[$0]?.fingerprint })
      return isSame && newPaths.isDisjoint(with: confirmed) ? nil : .replaced(key)
    }
  }
}
#endif
