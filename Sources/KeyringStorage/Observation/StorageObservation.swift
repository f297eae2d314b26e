internal import Synchronization

/// That somebody observes a storage: ended by ``cancel()``, or by being released.
public final class StorageObservation: Sendable {
  private let onEnd: Mutex<(@Sendable () -> Void)?>

  /// Makes an observation, as a storage hands it out.
  ///
  /// - Parameter onEnd: Called once, when it ends.
  public init(onEnd: @escaping @Sendable () -> Void) {
    self.onEnd = Mutex(onEnd)
  }

  deinit { cancel() }

  /// Ends the observation; the observer may still be in a call on another thread.
  public func cancel() {
    let onEnd = onEnd.withLock { onEnd in
      defer { onEnd = nil }
      return onEnd
    }
    onEnd?()
  }
}

/// Those who observe a storage, for a storage that learns of all changes in one place.
public final class StorageObservers: Sendable {
  private struct State: Sendable {
    var nextID = 0
    var observers: [(id: Int, call: @Sendable (StorageEvent) -> Void)] = []
  }

  private let state = Mutex(State())

  /// Makes an empty list.
  public init() {}

  /// Whether nobody observes.
  public var isEmpty: Bool { state.withLock { $0.observers.isEmpty } }

  /// Adds an observer until its observation ends.
  ///
  /// - Parameter observer: What to call with every event.
  /// - Returns: The observation.
  public func add(_ observer: @escaping @Sendable (StorageEvent) -> Void) -> StorageObservation {
    let id = state.withLock { state in
      state.nextID += 1
      state.observers.append((state.nextID, observer))
      return state.nextID
    }
    return StorageObservation { [weak self] in
      // What the observer holds may end another observation when it goes.
      let observer = self?.state.withLock { state in
        state.observers.firstIndex { $0.id == id }.map { state.observers.remove(at: $0) }
      }
      _ = observer
    }
  }

  /// Calls every observer, who came first first.
  ///
  /// Call it in the order of the events, from one thread at a time.
  ///
  /// - Parameter event: What has happened.
  public func report(_ event: StorageEvent) {
    for observer in state.withLock({ $0.observers }) { observer.call(event) }
  }
}
