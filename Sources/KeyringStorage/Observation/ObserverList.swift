// SPDX-License-Identifier: Apache-2.0

internal import KeyringPlatform
internal import Synchronization

/// The observers of a storage that learns of all changes in one place.
///
/// ```swift
/// private let observers = ObserverList()
///
/// func observe(
///   _ query: ItemQuery?, _ observer: @escaping @Sendable (StorageEvent) -> Void
/// ) -> StorageSubscription {
///   observers.add(observer)
/// }
/// ```
///
/// After a change, the storage calls ``report(_:)``. A storage that decides on the order of its changes under a lock
/// calls ``collect(_:)`` under that lock, and ``deliver()`` after it.
public final class ObserverList: Sendable {
  private typealias Entry = (id: Int, observer: Observer)

  private struct State: Sendable {
    var nextID = 0
    /// The observers of all items.
    var observers: [Entry] = []
    /// The observers of one item, which many others don't slow down.
    var observersByKey: [ItemKey: [Entry]] = [:]
    /// The events to report, each to the observers that there were.
    var events: [(event: StorageEvent, observers: [Entry])] = []
    var isDelivering = false
    /// The sources of events that are interrupted.
    var interrupted: Set<Int> = []

    var isEmpty: Bool { observers.isEmpty && observersByKey.isEmpty }

    mutating func add(_ observer: Observer, of key: ItemKey?) -> Int {
      nextID += 1
      if let key {
        observersByKey[key, default: []].append((nextID, observer))
      } else {
        observers.append((nextID, observer))
      }
      return nextID
    }

    mutating func remove(_ id: Int, of key: ItemKey?) {
      guard let key else { return observers.removeAll { $0.id == id } }
      observersByKey[key]?.removeAll { $0.id == id }
      if observersByKey[key]?.isEmpty == true { observersByKey[key] = nil }
    }

    mutating func collect(_ event: StorageEvent) {
      var concerned = observers
      if !observersByKey.isEmpty {
        let ofKeys = event.key.map { observersByKey[$0] ?? [] }
        concerned += ofKeys ?? observersByKey.values.flatMap(\.self)
        concerned.sort { $0.id < $1.id }
      }
      if !concerned.isEmpty { events.append((event, concerned)) }
    }
  }

  private let state = Mutex(State())
  private let turn = Mutex(())

  /// Creates an empty list.
  public init() {}

  /// Whether there are no observers.
  public var isEmpty: Bool { state.withLock(\.isEmpty) }

  // MARK: - Observers

  /// Adds an observer until its subscription ends.
  ///
  /// - Parameter observer: The closure to call with every event.
  /// - Returns: The subscription.
  public func add(_ observer: @escaping @Sendable (StorageEvent) -> Void) -> StorageSubscription {
    add(Observer(observer))
  }

  /// Adds an observer until its subscription ends.
  ///
  /// - Parameters:
  ///   - observer: The closure to call with every event that may concern the query.
  ///   - query: The items. If it has a key, the closure isn't called with the events of other keys.
  /// - Returns: The subscription.
  package func add(
    _ observer: @escaping @Sendable (StorageEvent) -> Void, matching query: ItemQuery?
  ) -> StorageSubscription {
    add(Observer(observer), of: query?.key)
  }

  /// Adds an observer until its subscription ends, and reports an event to it before all others.
  ///
  /// - Parameters:
  ///   - observer: The closure to call with every event.
  ///   - event: The first event, if any.
  /// - Returns: The subscription.
  package func add(
    _ observer: @escaping @Sendable (StorageEvent) -> Void, reporting event: StorageEvent?
  ) -> StorageSubscription {
    let observer = Observer(observer)
    if let event { observer.report(event) }
    return add(observer)
  }

  /// Adds a closure of the library, which returns at once, until its subscription ends.
  ///
  /// - Parameter observer: The closure, which the thread that reports an event calls.
  /// - Returns: The subscription.
  package func addForLibrary(
    _ observer: @escaping @Sendable (StorageEvent) -> Void
  ) -> StorageSubscription {
    add(Observer(isOfLibrary: true, observer))
  }

  private func add(_ observer: Observer, of key: ItemKey? = nil) -> StorageSubscription {
    let id = state.withLock { $0.add(observer, of: key) }
    return StorageSubscription { [weak self] in
      self?.state.withLock { $0.remove(id, of: key) }
      observer.end()
    }
  }

  // MARK: - Events

  /// Reports an event to every observer.
  ///
  /// Call this method in the order of the events, after the release of any lock that the storage's operations need.
  /// A thread of the library's own calls the observers. One that is slow delays only its own later events.
  ///
  /// ```swift
  /// observers.report(.changed(.removed(key)))
  /// ```
  ///
  /// - Parameter event: The event.
  public func report(_ event: StorageEvent) {
    collect(event)
    deliver()
  }

  /// Keeps an event for the observers that there are now.
  ///
  /// Collect the events in their order, under a lock of your own:
  ///
  /// ```swift
  /// items.withLock { items in
  ///   items[key] = item
  ///   observers.collect(.changed(.replaced(key)))
  /// }
  /// observers.deliver()
  /// ```
  ///
  /// - Parameter event: The event.
  public func collect(_ event: StorageEvent) {
    if isEmpty { return }
    state.withLock { $0.collect(event) }
  }

  /// Reports an event of one of several sources, which are one to the observers.
  ///
  /// Of the interruptions, the observers see the first one begin and the last one end.
  ///
  /// - Parameters:
  ///   - event: The event.
  ///   - source: The number of the source.
  package func report(_ event: StorageEvent, from source: Int) {
    switch event {
    case .interrupted: changeInterruptions { $0.insert(source) }
    case .resumed: changeInterruptions { $0.remove(source) }
    default: collect(event)
    }
    deliver()
  }

  /// Whether a source is interrupted.
  package var isInterrupted: Bool { state.withLock { !$0.interrupted.isEmpty } }

  /// Changes which sources are interrupted, and collects an event as the first one begins or the last one ends.
  ///
  /// - Parameter change: The closure that changes the numbers of the sources.
  /// - Returns: `true` for a change that has an event.
  @discardableResult
  package func changeInterruptions<Result>(_ change: (inout Set<Int>) -> Result) -> Bool {
    state.withLock { state in
      let wasInterrupted = !state.interrupted.isEmpty
      _ = change(&state.interrupted)
      let isInterrupted = !state.interrupted.isEmpty
      if wasInterrupted == isInterrupted { return false }
      state.collect(isInterrupted ? .interrupted : .resumed)
      return true
    }
  }

  // MARK: - Delivery

  /// Whether this thread is reporting events.
  ///
  /// It then waits for no other thread that does. That one may be waiting for this one.
  private static var isDelivering: Bool {
    get { unsafe pthread_getspecific(key) != nil }
    set { unsafe pthread_setspecific(key, newValue ? UnsafeRawPointer(bitPattern: 1) : nil) }
  }

  /// The key under which each thread keeps whether it's reporting events.
  ///
  /// A task that an observer starts doesn't belong to the report.
  private static let key = {
    var key = pthread_key_t()
    precondition(unsafe pthread_key_create(&key, nil) == 0, "too many keys for values of threads")
    return key
  }()

  /// Reports the events that were collected, after the lock is released.
  ///
  /// Caches know of the events when this method returns. Other observers are called soon.
  public func deliver() {
    let (isDelivering, isEmpty) = state.withLock { ($0.isDelivering, $0.events.isEmpty) }
    // Another thread may be reporting the events. Within a report, it's the one to report further ones.
    if isDelivering ? Self.isDelivering : isEmpty { return }
    turn.withLock { _ in
      let wasDelivering = Self.isDelivering
      Self.isDelivering = true
      defer { Self.isDelivering = wasDelivering }
      while case let events = next(), !events.isEmpty {
        for (event, observers) in events {
          for (_, observer) in observers { observer.report(event) }
        }
      }
    }
  }

  /// Returns the events that were collected since the last ones.
  private func next() -> [(event: StorageEvent, observers: [Entry])] {
    state.withLock { state in
      state.isDelivering = !state.events.isEmpty
      return exchange(&state.events, with: [])
    }
  }
}

extension StorageEvent {
  /// The key of the only item that the event concerns, or `nil` for an event that may concern any.
  package var key: ItemKey? {
    switch self {
    case .changed(let change): change.key
    case .mayHaveChanged(let key), .changing(let key), .settled(let key): key
    case .locked, .interrupted, .resumed: nil
    }
  }
}
