#if SecretService && os(Linux)
internal import KeyringStorage
internal import Synchronization

/// Where items were when they were last met in a session, and nothing of what is in them.
///
/// An operation on the same key can so ask for what is in the item before it knows that the item is
/// still there. It uses nothing from here that the keyring doesn't confirm in the same moment.
final class ItemPlaces: Sendable {
  private struct Name: Hashable {
    let collection: SecretServiceStorage.Collection
    let key: ItemKey
  }

  private let paths = Mutex<[Name: ObjectPath]>([:])

  /// A program that uses more keys than this does not use the same ones again and again.
  private static let limit = 4096

  /// Returns where items of a collection were, by their keys.
  func paths(
    of keys: [ItemKey], in collection: SecretServiceStorage.Collection
  ) -> [ItemKey: ObjectPath] {
    paths.withLock { paths in
      var known: [ItemKey: ObjectPath] = [:]
      for key in keys { known[key] = paths[Name(collection: collection, key: key)] }
      return known
    }
  }

  /// Remembers where an item of a collection is; `nil` to forget it.
  func note(
    _ path: ObjectPath?, of key: ItemKey, in collection: SecretServiceStorage.Collection
  ) {
    paths.withLock { paths in
      if paths.count >= Self.limit { paths = [:] }
      paths[Name(collection: collection, key: key)] = path
    }
  }
}
#endif
