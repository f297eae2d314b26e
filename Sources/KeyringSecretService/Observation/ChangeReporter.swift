#if SecretService && os(Linux)
internal import CLibSecret
internal import Dispatch
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
  }

  private struct State: Sendable {
    var nextID = 0
    var observers: [Int: Observer] = [:]
    var requests: [Request] = []
    var outcomes: [Int: Result<Void, SecretSession.OpeningFailure>] = [:]
    /// What the thread waits in; `nil` until it does.
    var context: GLibReference?
    var isRunning = false
  }

  private let address: String?
  private let monitor = Monitor(State())

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
    for observer in reporter.monitor.withLock({ Array($0.observers.values) }) {
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
  ) throws(SecretSession.OpeningFailure) -> StorageObservation {
    let (id, mustStart) = monitor.withLock { state in
      state.nextID += 1
      state.observers[state.nextID] = Observer(observer)
      state.requests.append(
        Request(
          id: state.nextID, collection: collection, query: query, deadline: deadline.fixed))
      defer { state.isRunning = true }
      return (state.nextID, !state.isRunning)
    }
    if mustStart {
      // A serial queue of its own is what Dispatch gives a thread of its own.
      DispatchQueue(label: "swift-keyring changes").async { self.run() }
    }
    wake()
    let outcome = monitor.wait(until: deadline) { $0.outcomes.removeValue(forKey: id) }
    do throws(SecretSession.OpeningFailure) {
      try (outcome ?? .failure(.init(deadline.failure ?? .timedOut))).get()
    } catch {
      leave(id)
      throw error
    }
    return StorageObservation { self.leave(id) }
  }

  private func leave(_ id: Int) {
    // What the observer holds may end another observation when it goes.
    let observer = monitor.withLock { state in
      state.requests.removeAll { $0.id == id }
      state.outcomes[id] = nil
      return state.observers.removeValue(forKey: id)
    }
    _ = observer
    wake()
  }

  private func wake() {
    if let context = monitor.withLock({ $0.context }) { g_main_context_wakeup(context.pointer) }
  }

  // MARK: - The thread

  private func run() {
    PrivateMainContext.run { context in
      monitor.withLock { $0.context = context.shared }
      let reader = SignalReader(of: self, at: address, in: context)
      while let work = nextWork() { reader.turn(work) }
      reader.close()
    }
  }

  /// Who has come, and who is still there; `nil` when nobody is.
  private func nextWork() -> (requests: [Request], observers: Set<Int>)? {
    monitor.withLock { state in
      if state.observers.isEmpty {
        state.isRunning = false
        state.context = nil
        return nil
      }
      defer { state.requests = [] }
      return (state.requests, Set(state.observers.keys))
    }
  }

  func report(_ event: StorageEvent, to id: Int) {
    monitor.withLock { $0.observers[id] }?.report(event)
  }

  func answer(_ request: Request, _ outcome: Result<Void, SecretSession.OpeningFailure>) {
    monitor.withLock { state in
      if state.observers[request.id] != nil { state.outcomes[request.id] = outcome }
    }
  }
}

/// An observer, called by one thread at a time: the reporter's, or one that writes.
private final class Observer: Sendable {
  private let observer: Mutex<@Sendable (StorageEvent) -> Void>

  init(_ observer: @escaping @Sendable (StorageEvent) -> Void) { self.observer = Mutex(observer) }

  func report(_ event: StorageEvent) { observer.withLock { $0(event) } }
}
#endif
