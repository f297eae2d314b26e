// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
internal import CKeyringLibSecret
internal import KeyringRuntime
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
    /// The failure of the request, or `nil` if the observation has begun.
    let outcome = SharedOutcome<SecretSession.OpeningFailure?>()

    /// The deadline with its full length from now on, because the keyring has answered.
    var renewedDeadline: Deadline {
      var deadline = deadline
      deadline.renew()
      return deadline
    }
  }

  private struct State: Sendable {
    var nextID = 0
    var observers: [Int: ObserverList] = [:]
    var requests: [Request] = []
    /// An event that happens if there may be work, since the thread last checked for some.
    var work = SharedOutcome<Void>()
    var isRunning = false
  }

  private let address: String?
  /// The time between two looks at items that may have changed without a signal, and the longest time of a change.
  let lookInterval: Duration
  private let state = Mutex(State())

  private init(at address: String?, lookingEvery interval: Duration) {
    (self.address, lookInterval) = (address, interval)
  }

  // MARK: - Shared monitors

  private static let monitors = Mutex<[String?: ChangeMonitor]>([:])

  /// Returns the monitor of a bus, which a first call creates with this interval.
  static func shared(
    at address: String?, lookingEvery interval: Duration = .cacheLifetime
  ) -> ChangeMonitor {
    monitors.withLock { monitors in
      let found = monitors[address] ?? ChangeMonitor(at: address, lookingEvery: interval)
      monitors[address] = found
      return found
    }
  }

  /// Notifies all observers on a bus that this process may have changed an item.
  ///
  /// Caches know of it before the call that writes returns, even if the call failed, because the write may have taken
  /// place.
  static func noteWrite(of key: ItemKey?, at address: String?) {
    guard let monitor = monitors.withLock({ $0[address] }) else { return }
    for observer in monitor.state.withLock({ Array($0.observers.values) }) {
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
    if let failure = deadline.failure { throw .init(failure) }
    let list = ObserverList()
    let subscription = list.add(observer)
    let id = state.withLock { state in
      state.nextID += 1
      state.observers[state.nextID] = list
      return state.nextID
    }
    let request = Request(id: id, collection: collection, query: query, deadline: deadline)
    let mustStart = state.withLock { state in
      state.requests.append(request)
      return !exchange(&state.isRunning, with: true)
    }
    if mustStart,
      let shortage = ThreadExecutor.startThread(named: "swift-keyring c", { self.run() })
    {
      refuseRequests(DBusError(shortage))
    }
    wake()
    do throws(SecretSession.OpeningFailure) {
      try await request.outcome.check(until: deadline)
    } catch {
      leave(id)
      throw error
    }
    return StorageSubscription {
      subscription.cancel()
      self.leave(id)
    }
  }

  /// Answers all requests with a failure, because there is no thread, or no loop for it.
  private func refuseRequests(_ cause: DBusError) {
    let requests = state.withLock { state in
      state.isRunning = false
      return exchange(&state.requests, with: [])
    }
    for request in requests { request.outcome.settle(.init(cause)) }
  }

  private func leave(_ id: Int) {
    state.withLock { state in
      state.requests.removeAll { $0.id == id }
      state.observers[id] = nil
    }
    wake()
  }

  /// Makes the thread check for work.
  func wake() { state.withLock(\.work).settle(()) }

  // MARK: - The thread

  private func run() {
    do throws(DBusError) {
      try CallLoop.runToEnd(orThrow: \.self) { () async throws(DBusError) in
        let reader = SignalLoop(of: self, at: address)
        while let work = nextWork() { await reader.runOnce(work) }
        reader.disconnect()
      }
    } catch {
      refuseRequests(error)
    }
  }

  /// Waits until there may be work or the deadline passes.
  func waitForWork(until deadline: Deadline) async {
    _ = await state.withLock(\.work).wait(until: deadline.end)
    state.withLock { $0.work = SharedOutcome() }
  }

  /// Returns the new requests and the current observers, or `nil` if there are no observers.
  private func nextWork() -> (requests: [Request], observers: Set<Int>)? {
    state.withLock { state in
      if state.observers.isEmpty {
        state.isRunning = false
        return nil
      }
      return (exchange(&state.requests, with: []), Set(state.observers.keys))
    }
  }

  /// Makes the calls that wait for these requests or for later ones wait longer.
  ///
  /// Observations begin one after the other.
  func extendWaits(for requests: [Request]) {
    for request in requests + state.withLock(\.requests) {
      request.outcome.extendWaits(to: request.renewedDeadline.end)
    }
  }

  func report(_ event: StorageEvent, to id: Int) {
    state.withLock { $0.observers[id] }?.report(event)
  }
}
#endif
