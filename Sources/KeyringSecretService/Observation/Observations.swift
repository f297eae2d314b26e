// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
internal import KeyringRuntime
internal import KeyringStorage
internal import Synchronization

/// The observers on one bus, and the requests to observe, which calls make and the monitor's thread answers.
final class Observations: Sendable {
  /// A call's request to observe a collection, for which the call waits.
  struct Request: Sendable {
    let id: Int
    let collection: SecretServiceStorage.Collection
    let query: ItemQuery?
    let deadline: Deadline
    /// The failure of the request, or `nil` for an observation that has begun.
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

  private let state = Mutex(State())

  // MARK: - Calls

  /// Adds an observer and its request.
  ///
  /// - Returns: The request, and whether the caller must start the thread.
  func add(
    _ observer: ObserverList, of collection: SecretServiceStorage.Collection, _ query: ItemQuery?,
    until deadline: Deadline
  ) -> (request: Request, mustStart: Bool) {
    state.withLock { state in
      state.nextID += 1
      state.observers[state.nextID] = observer
      let request = Request(
        id: state.nextID, collection: collection, query: query, deadline: deadline)
      state.requests.append(request)
      return (request, !exchange(&state.isRunning, with: true))
    }
  }

  /// Removes an observer, with its request.
  func remove(_ id: Int) {
    state.withLock { state in
      state.requests.removeAll { $0.id == id }
      state.observers[id] = nil
    }
    wake()
  }

  /// Answers all requests with the failure to start a thread, or a loop for it.
  func refuseRequests(_ cause: DBusError) {
    let requests = state.withLock { state in
      state.isRunning = false
      return exchange(&state.requests, with: [])
    }
    for request in requests { request.outcome.settle(.init(cause)) }
  }

  /// Reports an event to every observer.
  func reportToAll(_ event: StorageEvent) {
    for observer in state.withLock({ Array($0.observers.values) }) { observer.report(event) }
  }

  /// Makes the thread check for work.
  func wake() { state.withLock(\.work).settle(()) }

  // MARK: - The thread

  /// Waits until there may be work or the deadline passes.
  func waitForWork(until deadline: Deadline) async {
    _ = await state.withLock(\.work).wait(until: deadline.end)
    state.withLock { $0.work = SharedOutcome() }
  }

  /// Returns the new requests and the current observers, or `nil` after the last observer left.
  func nextWork() -> (requests: [Request], observers: Set<Int>)? {
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
