// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
internal import CLibSecret
internal import KeyringStorage
internal import Synchronization

/// A monitor that turns the provider's signals on one bus into events for observers.
///
/// The monitor has a connection and a thread while there are observers. Both end with the last observer.
/// Signals name only paths, so the monitor reads the items and collections afterwards: see ``SignalLoop``.
final class ChangeMonitor: Sendable {
  /// A call's request to observe a collection, for which the call waits.
  struct Request: Sendable {
    let id: Int
    let collection: SecretServiceStorage.Collection
    let query: ItemQuery?
    let deadline: Deadline
    /// The waiter of the requesting call.
    let waiter: Waiter
  }

  private struct State: Sendable {
    var nextID = 0
    var observers: [Int: Observer] = [:]
    var requests: [Request] = []
    var outcomes: [Int: Result<Void, SecretSession.OpeningFailure>] = [:]
    /// Indicates whether something has happened since the thread last checked for work.
    var hasWork = false
    /// The waiter of the thread, or `nil` if the thread isn't waiting.
    var waiter: Waiter?
    var isRunning = false
  }

  private let address: String?
  private let state = Mutex(State())

  private init(at address: String?) { self.address = address }

  // MARK: - Shared monitors

  private static let reporters = Mutex<[String?: ChangeMonitor]>([:])

  static func shared(at address: String?) -> ChangeMonitor {
    reporters.withLock { reporters in
      let found = reporters[address] ?? ChangeMonitor(at: address)
      reporters[address] = found
      return found
    }
  }

  /// Tells all observers on a bus that this process may have changed an item.
  ///
  /// It tells them before the call that writes returns.
  static func noteWrite(of key: ItemKey?, at address: String?) {
    guard let reporter = reporters.withLock({ $0[address] }) else { return }
    for observer in reporter.state.withLock({ Array($0.observers.values) }) {
      observer.report(.mayHaveChanged(key))
    }
  }

  // MARK: - Observing

  /// Calls an observer for each event until the subscription ends.
  ///
  /// The observation has begun when this method returns.
  ///
  /// - Returns: The subscription.
  /// - Throws: `SecretSession.OpeningFailure` if the observation can't begin.
  func observe(
    _ collection: SecretServiceStorage.Collection, _ query: ItemQuery?, until deadline: Deadline,
    _ observer: @escaping @Sendable (StorageEvent) -> Void
  ) async throws(SecretSession.OpeningFailure) -> StorageSubscription {
    let id = state.withLock { state in
      state.nextID += 1
      state.observers[state.nextID] = Observer(observer)
      return state.nextID
    }
    do throws(DBusError) {
      try await Waiter.wait(until: deadline) { waiter in
        let mustStart = state.withLock { state in
          state.requests.append(
            Request(
              id: id, collection: collection, query: query, deadline: deadline.fixed,
              waiter: waiter))
          defer { state.isRunning = true }
          return !state.isRunning
        }
        if mustStart, !ThreadExecutor.startThread(named: "swift-keyring c", { self.run() }) {
          refuseRequests()
        }
        wake()
      }
    } catch {
      leave(id)
      throw .init(error)
    }
    do throws(SecretSession.OpeningFailure) {
      try state.withLock { $0.outcomes.removeValue(forKey: id) }?.get()
    } catch {
      leave(id)
      throw error
    }
    return StorageSubscription { self.leave(id) }
  }

  /// Answers all requests with a failure, because the system can't start a thread.
  private func refuseRequests() {
    let requests = state.withLock { state in
      state.isRunning = false
      defer { state.requests = [] }
      return state.requests
    }
    let cause = DBusError(
      domain: "swift-keyring", code: 0, text: "the system can't start another thread")
    for request in requests { answer(request, .failure(.init(cause))) }
  }

  private func leave(_ id: Int) {
    // Releasing the observer may end another observation. Release it outside the lock.
    let observer = state.withLock { state in
      state.requests.removeAll { $0.id == id }
      state.outcomes[id] = nil
      return state.observers.removeValue(forKey: id)
    }
    _ = observer
    wake()
  }

  /// Makes the thread check for work.
  func wake() {
    let waiter = state.withLock { state in
      state.hasWork = true
      return state.waiter
    }
    waiter?.end()
  }

  // MARK: - The thread

  private func run() {
    CallLoop.runToEnd {
      let reader = SignalLoop(of: self, at: address)
      while let work = nextWork() { await reader.runOnce(work) }
      reader.close()
    }
  }

  /// Waits until there may be work or the deadline passes.
  func waitForWork(until deadline: Deadline) async {
    try? await Waiter.wait(until: deadline) { waiter in
      let hasWork = state.withLock { state in
        state.waiter = waiter
        return state.hasWork
      }
      if hasWork { waiter.end() }
    }
    state.withLock { state in
      state.waiter = nil
      state.hasWork = false
    }
  }

  /// Returns the new requests and the current observers, or `nil` if there are no observers.
  private func nextWork() -> (requests: [Request], observers: Set<Int>)? {
    state.withLock { state in
      if state.observers.isEmpty {
        state.isRunning = false
        return nil
      }
      defer { state.requests = [] }
      return (state.requests, Set(state.observers.keys))
    }
  }

  func report(_ event: StorageEvent, to id: Int) {
    state.withLock { $0.observers[id] }?.report(event)
  }

  func answer(_ request: Request, _ outcome: Result<Void, SecretSession.OpeningFailure>) {
    state.withLock { state in
      if state.observers[request.id] != nil { state.outcomes[request.id] = outcome }
    }
    request.waiter.end()
  }
}

/// An observer that's called by one thread at a time: the monitor's thread or a thread that writes.
private final class Observer: Sendable {
  private let observer: Mutex<@Sendable (StorageEvent) -> Void>

  init(_ observer: @escaping @Sendable (StorageEvent) -> Void) { self.observer = Mutex(observer) }

  func report(_ event: StorageEvent) { observer.withLock { $0(event) } }
}
#endif
