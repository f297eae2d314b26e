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

  private struct Name: Hashable {
    let collection: SecretServiceStorage.Collection
    let key: ItemKey
  }

  private struct State {
    var places: [Name: Place] = [:]
    /// Until when this process has written our item a moment ago.
    var written: [Name: ContinuousClock.Instant] = [:]
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

  /// Where our item is, if this process has written it a moment ago.
  func written(
    _ key: ItemKey, in collection: SecretServiceStorage.Collection
  ) -> ObjectPath? {
    let name = Name(collection: collection, key: key)
    return state.withLock { state in
      guard let end = state.written[name], end > .now, case .at(let path)? = state.places[name]
      else { return nil }
      return path
    }
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

  /// Remembers whether this process has just written our item.
  func noteWritten(
    _ isWritten: Bool, _ key: ItemKey, in collection: SecretServiceStorage.Collection
  ) {
    let end = isWritten ? ContinuousClock.now + .seconds(1) : nil
    state.withLock { $0.written[Name(collection: collection, key: key)] = end }
  }
}
#endif
