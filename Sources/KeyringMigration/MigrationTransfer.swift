// SPDX-License-Identifier: Apache-2.0

internal import KeyringStorage

/// The transfer of items from one source to one destination, step by step.
struct MigrationTransfer: Sendable {
  let source: any MigrationSource
  let destination: any SecureStorage
  let isReplacing: Bool
  /// The items of the source.
  private(set) var items: [SecureItem] = []
  /// The keys of the items that the source has, and that aren't migrated.
  private(set) var left: [ItemKey] = []
  /// The keys of the items that the destination already had.
  private(set) var alreadyPresent: Set<ItemKey> = []
  /// The number of items that were removed from the source, after the removal.
  var removedCount: Int?
  /// Whether the items are removed from the source afterwards.
  var isMoving = false

  mutating func read() throws(SecureStorageError) {
    items = try source.items(moving: isMoving)
    left = try source.leftItems()
    var keys: Set<ItemKey> = []
    for item in items {
      try destination.validate(item)
      _ = try destination.requireSecret(item)
      guard keys.insert(item.key).inserted else {
        throw destination.error(
          .ambiguous, during: .read,
          message: "The source has several items for \("\(item.key)".excerpt).")
      }
    }
  }

  mutating func check(_ done: () -> Void) throws(SecureStorageError) {
    var found: ItemKey?
    for batch in items.batches {
      let others = try destination.items(for: batch.map(\.key), details: .all)
      for item in batch {
        if let other = others[item.key] {
          found = item.key
          if other.hasValue(of: item), !isReplacing || other.hasLabel(of: item) {
            alreadyPresent.insert(item.key)
          } else if !isReplacing {
            throw alreadyExists(item.key)
          }
        }
        done()
      }
    }
    // If the destination has an item of the source, both may be the same storage. In that case, removing an
    // item from one would remove it from both. Another program may just have changed or removed the others.
    if let found, let storage = source.storage,
      try destination.sharesItems(with: storage, likeThoseOf: found)
    {
      throw destination.error(
        .invalidArgument, during: .migrate,
        message: "The source and the destination are the same storage.", argument: "destination")
    }
  }

  func write(_ done: () -> Void) throws(SecureStorageError) {
    if let storage = destination as? any BatchStorage, try areWrittenAtOnce(to: storage) {
      for _ in items { done() }
      return
    }
    for item in items {
      do throws(SecureStorageError) {
        if let (item, mode) = try change(for: item) { try destination.save(item, mode: mode) }
      } catch {
        // Another program has stored the item first. The storage's error doesn't name the item.
        throw error.code == .itemAlreadyExists ? alreadyExists(item.key) : error
      }
      done()
    }
  }

  /// Writes all items in one step, or returns `false` if one of them has to be found that can't be written.
  private func areWrittenAtOnce(
    to storage: any BatchStorage
  ) throws(SecureStorageError) -> Bool {
    var changes: [(item: SecureItem, mode: SaveMode)] = []
    for item in items { if let change = try change(for: item) { changes.append(change) } }
    do throws(SecureStorageError) {
      if !changes.isEmpty { try storage.save(changes) }
      return true
    } catch {
      // Any other error would come again, perhaps after the user was asked again.
      if error.code == .itemAlreadyExists || error.argument == "secret" { return false }
      throw error
    }
  }

  func verify(_ done: () -> Void) throws(SecureStorageError) {
    for batch in items.batches {
      let found = try destination.items(for: batch.map(\.key), details: .all)
      for item in batch {
        guard let other = found[item.key], other.hasValue(of: item),
          alreadyPresent.contains(item.key) || other.hasLabel(of: item)
        else {
          throw destination.error(
            .verificationFailed, during: .read,
            message: "The value written for \("\(item.key)".excerpt) could not be read back.")
        }
        done()
      }
    }
  }

  /// Returns what to save for an item, or `nil` for nothing.
  private func change(
    for item: SecureItem
  ) throws(SecureStorageError) -> (item: SecureItem, mode: SaveMode)? {
    if alreadyPresent.contains(item.key) {
      // The destination may have found the item in the source itself, as one of its layers. It then copies the item.
      // An update without a secret never overwrites a newer one.
      return isMoving ? (SecureItem(key: item.key), .update) : nil
    }
    var item = item
    // The destination keeps the attributes that the item doesn't have, and the time belongs to its old secret.
    if isReplacing, item.expires == nil,
      try destination.item(for: item.key, details: .metadata)?.expires != nil
    {
      item.expires = nil
    }
    return (item, isReplacing ? .addOrReplace : .add)
  }

  private func alreadyExists(_ key: ItemKey) -> SecureStorageError {
    destination.error(
      .itemAlreadyExists, during: .save,
      message: "The destination already has a different value for \("\(key)".excerpt).",
      recoverySuggestion:
        "Decide which value is right, remove the other one, and try again.")
  }
}

extension SecureStorage {
  /// Returns `true` if another storage is the same: an item that is briefly saved in one is found in the other.
  ///
  /// A user of a fleet may be allowed to save items only for the service of the key.
  fileprivate func sharesItems(
    with other: any SecureStorage, likeThoseOf key: ItemKey
  ) throws(SecureStorageError) -> Bool {
    do throws(SecureStorageError) {
      return try sharesItems(with: other, probe: .probe())
    } catch {
      guard error.code == .accessDenied else { throw error }
      return try sharesItems(with: other, probe: .probe(like: key))
    }
  }

  private func sharesItems(
    with other: any SecureStorage, probe: ItemKey
  ) throws(SecureStorageError) -> Bool {
    let (isFound, wasThere) = try withProbe(probe) { (key, _) throws(SecureStorageError) in
      try other.exists(key)
    }
    if isFound { return true }
    if wasThere { return false }
    throw error(
      .verificationFailed, during: .migrate,
      message: "The item that was stored as a test is missing.")
  }
}

extension SecureItem {
  /// Returns `true` if the item has the secret and all attributes of another item.
  ///
  /// The label is ignored, because the user can change it.
  fileprivate func hasValue(of other: SecureItem) -> Bool {
    secret == other.secret && (other.attributes ?? [:]).isContained(in: attributes ?? [:])
  }

  fileprivate func hasLabel(of other: SecureItem) -> Bool {
    guard let expected = other.label else { return true }
    return label?.hasSameBytes(expected) == true
  }
}

extension [SecureItem] {
  /// The items in batches that fit in a message, regardless of the size of their secrets.
  var batches: [ArraySlice<SecureItem>] {
    let size = (32 << 20) / ItemLimits.secretBytes
    return stride(from: 0, to: count, by: size).map { self[$0..<Swift.min($0 + size, count)] }
  }
}
