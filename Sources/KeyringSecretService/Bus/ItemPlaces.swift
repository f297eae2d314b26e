#if SecretService && os(Linux)
internal import KeyringStorage
internal import Synchronization

/// Where items were when they were last met in a session, and nothing of what is in them.
///
/// A read of the same key can so ask for the secret before it knows that the item is still there; it
/// uses nothing from here that the keyring does not confirm in the same moment. A write that follows
/// another one within a second need not look first what there is to be replaced.
final class ItemPlaces: Sendable {
  enum Place: Hashable, Sendable {
    case at(ObjectPath)
    /// Neither an item of ours nor another program's.
    case nowhere
  }

  /// An item of ours that this process has just written.
  struct Written: Sendable {
    let collection: SecretServiceStorage.Collection
    let path: ObjectPath
    fileprivate let end = ContinuousClock.now + .seconds(1)
  }

  private struct Name: Hashable {
    let collection: SecretServiceStorage.Collection
    let key: ItemKey
  }

  private struct State {
    var places: [Name: Place] = [:]
    /// By the key alone: a collection may have several names.
    var written: [ItemKey: Written] = [:]
  }

  private let state = Mutex(State())

  /// A program that uses more keys than this does not use the same ones again and again.
  private static let limit = 4096

  /// Where items of a collection were, by their keys.
  func places(
    of keys: [ItemKey], in collection: SecretServiceStorage.Collection
  ) -> [ItemKey: Place] {
    state.withLock { state in
      var known: [ItemKey: Place] = [:]
      for key in keys { known[key] = state.places[Name(collection: collection, key: key)] }
      return known
    }
  }

  /// Where the item is that was written under a key a moment ago.
  func written(
    _ key: ItemKey, in collection: SecretServiceStorage.Collection
  ) -> ObjectPath? {
    let written = state.withLock { $0.written[key] }
    return written.flatMap { $0.collection == collection && $0.end > .now ? $0.path : nil }
  }

  /// Remembers where an item of a collection is; `nil` to forget it.
  func note(
    _ place: Place?, of key: ItemKey, in collection: SecretServiceStorage.Collection
  ) {
    state.withLock { state in
      if state.places.count >= Self.limit { state = State() }
      state.places[Name(collection: collection, key: key)] = place
    }
  }

  /// Remembers how an item was written; `nil` when it is written otherwise now.
  func noteWritten(_ written: Written?, of key: ItemKey) {
    state.withLock { $0.written[key] = written }
  }
}
#endif
