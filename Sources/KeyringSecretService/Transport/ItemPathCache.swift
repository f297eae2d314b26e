// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
internal import KeyringStorage
internal import Synchronization

/// The last known paths of the items that were seen in a session.
///
/// The cache holds nothing of the items' contents. With a cached path, an operation on the same key can ask
/// for the item's contents before it knows that the item still exists. The operation uses nothing from the
/// cache that the keyring doesn't confirm at the same time.
final class ItemPathCache: Sendable {
  private struct Name: Hashable {
    let collection: SecretServiceStorage.Collection
    let key: ItemKey
  }

  private let paths = Mutex<[Name: ObjectPath]>([:])

  /// The number of paths at which the cache is emptied.
  ///
  /// A program that uses more keys than this doesn't use the same keys repeatedly.
  private static let limit = 4096

  /// Returns the last known paths of items of a collection, by their keys.
  func paths(
    of keys: [ItemKey], in collection: SecretServiceStorage.Collection
  ) -> [ItemKey: ObjectPath] {
    paths.withLock { paths in
      var known: [ItemKey: ObjectPath] = [:]
      for key in keys { known[key] = paths[Name(collection: collection, key: key)] }
      return known
    }
  }

  /// Records the path of an item of a collection, or forgets it if the new path is `nil`.
  func record(
    _ path: ObjectPath?, of key: ItemKey, in collection: SecretServiceStorage.Collection
  ) {
    paths.withLock { paths in
      if paths.count >= Self.limit { paths = [:] }
      paths[Name(collection: collection, key: key)] = path
    }
  }
}
#endif
