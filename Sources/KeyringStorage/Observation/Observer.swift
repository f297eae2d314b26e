// SPDX-License-Identifier: Apache-2.0

package import KeyringRuntime
internal import Synchronization

/// An observer of a storage, and the events that it hasn't been notified of.
///
/// A thread of the library's own calls a closure of the app with one event after the other. A closure of the
/// library returns at once, so the thread that reports an event calls it.
final class Observer: Sendable {
  private struct State: Sendable {
    /// The closure, until the subscription ends.
    var call: (@Sendable (StorageEvent) -> Void)?
    /// The events that wait for a call.
    var events = Queue<StorageEvent>()
    /// The number of waiting events above which they're replaced by fewer.
    var limit = Observer.mostEvents
    /// Whether a thread was asked to call the closure.
    var isCalling = false

    mutating func append(_ event: StorageEvent) {
      events.append(event)
      if events.count > limit { summarize() }
    }

    /// Leaves as few events as say that any item may have changed, and what else has happened.
    private mutating func summarize() {
      var rest: [StorageEvent] = []
      while let event = events.popFirst() {
        switch event {
        case .changed, .mayHaveChanged: continue
        case .locked: rest.removeAll { $0 == event }
        default: break
        }
        if let index = rest.firstIndex(where: { $0 == event.opposite }) {
          rest.remove(at: index)
        } else {
          rest.append(event)
        }
      }
      for event in rest + [.mayHaveChanged(nil)] { events.append(event) }
      limit = max(Observer.mostEvents, 2 * events.count)
    }
  }

  /// The largest number of events that wait before a summary.
  private static let mostEvents = 10_000

  /// Whether the observers that are added now are closures of the library.
  @TaskLocal static var isOfLibrary = false

  private let state: Mutex<State>
  private let isOfLibrary: Bool

  /// Creates an observer.
  ///
  /// - Parameters:
  ///   - isOfLibrary: Whether the closure is one of the library.
  ///   - call: The closure to call with every event.
  init(
    isOfLibrary: Bool = Observer.isOfLibrary, _ call: @escaping @Sendable (StorageEvent) -> Void
  ) {
    self.isOfLibrary = isOfLibrary
    state = Mutex(State(call: call))
  }

  /// Calls the closure with an event, or lets another thread do so.
  func report(_ event: StorageEvent) {
    if isOfLibrary {
      state.withLock(\.call)?(event)
      return
    }
    let mustCall = state.withLock { state in
      if state.call == nil { return false }
      state.append(event)
      return !exchange(&state.isCalling, with: true)
    }
    if mustCall { BlockingPool.ofApp.run { while let call = self.next() { call() } } }
  }

  private func next() -> (() -> Void)? {
    state.withLock { state in
      guard let call = state.call, let event = state.events.popFirst() else {
        state.isCalling = false
        return nil
      }
      return { call(event) }
    }
  }

  /// Releases the closure, which isn't called again.
  func end() {
    // Releasing what the closure holds may end another subscription.
    let old = state.withLock { exchange(&$0, with: State()) }
    withExtendedLifetime(old) {}
  }
}

extension StorageEvent {
  /// The event that ends or begins what this one begins or ends, if there is one.
  fileprivate var opposite: StorageEvent? {
    switch self {
    case .changed, .mayHaveChanged, .locked: nil
    case .changing(let key): .settled(key)
    case .settled(let key): .changing(key)
    case .interrupted: .resumed
    case .resumed: .interrupted
    }
  }
}

extension BlockingPool {
  /// The threads that call closures of the app.
  ///
  /// Their number is unlimited: each closure may wait for another one. A thread that can't be started is
  /// tried again: one that uses a storage must not run a closure of the app.
  package static let ofApp = BlockingPool(most: .max) { body in
    if startThread(body) { return true }
    Task.detached {
      repeat { try? await Task.sleep(for: .milliseconds(100)) } while !startThread(body)
    }
    return true
  }

  private static func startThread(_ body: @escaping @Sendable () -> Void) -> Bool {
    ThreadExecutor.startThread(named: "swift-keyring o", body) == nil
  }
}
