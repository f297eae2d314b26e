#if SecretService && os(Linux)
internal import CLibSecret
internal import KeyringStorage
internal import Synchronization

/// Hears the provider's signals on one bus, and tells those who observe what they mean.
///
/// It has a connection and a thread while somebody observes; with the last one both end. Signals
/// name only paths, so that what they are about is looked at afterwards: see ``SignalReader``.
final class ChangeReporter: Sendable {
  /// Somebody who asks to be told, and has to wait until that is arranged.
  struct Request: Sendable {
    let id: Int
    let collection: SecretServiceStorage.Collection
    let query: ItemQuery?
    let deadline: Deadline
    /// Ends the wait of the one who asks.
    let waiter: Waiter
  }

  private struct State: Sendable {
    var nextID = 0
    var observers: [Int: Observer] = [:]
    var requests: [Request] = []
    var outcomes: [Int: Result<Void, SecretSession.OpeningFailure>] = [:]
    /// Whether something has happened since the thread last looked.
    var hasWork = false
    /// What the thread waits for, if it does.
    var waiter: Waiter?
    var isRunning = false
  }

  private let address: String?
  private let state = Mutex(State())

  private init(at address: String?) { self.address = address }

  // MARK: - One for each bus

  private static let reporters = Mutex<[String?: ChangeReporter]>([:])

  static func shared(at address: String?) -> ChangeReporter {
    reporters.withLock { reporters in
      let found = reporters[address] ?? ChangeReporter(at: address)
      reporters[address] = found
      return found
    }
  }

  /// Tells everybody who observes on a bus, before the call that writes returns, that this process
  /// may have changed an item.
  static func noteWrite(of key: ItemKey?, at address: String?) {
    guard let reporter = reporters.withLock({ $0[address] }) else { return }
    for observer in reporter.state.withLock({ Array($0.observers.values) }) {
      observer.report(.mayHaveChanged(key))
    }
  }

  // MARK: - Observing

  /// Has an observer told from when this returns until its observation ends.
  ///
  /// - Throws: Why it cannot be.
  func observe(
    _ collection: SecretServiceStorage.Collection, _ query: ItemQuery?, until deadline: Deadline,
    _ observer: @escaping @Sendable (StorageEvent) -> Void
  ) async throws(SecretSession.OpeningFailure) -> StorageObservation {
    let id = state.withLock { state in
      state.nextID += 1
      state.observers[state.nextID] = Observer(observer)
      return state.nextID
    }
    do throws(BusFailure) {
      try await Waiter.wait(until: deadline) { waiter in
        let mustStart = state.withLock { state in
          state.requests.append(
            Request(
              id: id, collection: collection, query: query, deadline: deadline.fixed,
              waiter: waiter))
          defer { state.isRunning = true }
          return !state.isRunning
        }
        if mustStart {
          let isStarted = ThreadExecutor.startThread(named: "swift-keyring c") { self.run() }
          precondition(isStarted, "no thread can be started")
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
    return StorageObservation { self.leave(id) }
  }

  private func leave(_ id: Int) {
    // What the observer holds may end another observation when it goes.
    let observer = state.withLock { state in
      state.requests.removeAll { $0.id == id }
      state.outcomes[id] = nil
      return state.observers.removeValue(forKey: id)
    }
    _ = observer
    wake()
  }

  /// Has the thread look what there is to do.
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
      let reader = SignalReader(of: self, at: address)
      while let work = nextWork() { await reader.turn(work) }
      reader.close()
    }
  }

  /// Waits until there may be something to do.
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

  /// Who has come, and who is still there; `nil` when nobody is.
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

/// An observer, called by one thread at a time: the reporter's, or one that writes.
private final class Observer: Sendable {
  private let observer: Mutex<@Sendable (StorageEvent) -> Void>

  init(_ observer: @escaping @Sendable (StorageEvent) -> Void) { self.observer = Mutex(observer) }

  func report(_ event: StorageEvent) { observer.withLock { $0(event) } }
}
#endif
