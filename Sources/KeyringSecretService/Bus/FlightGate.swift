#if SecretService && os(Linux)
internal import KeyringStorage
internal import Synchronization

/// Limits the number of messages, or of other things, that travel at the same time; the others wait their turn.
final class FlightGate: Sendable {
  private struct State {
    var free: Int
    var waiting: [(count: Int, waiter: Waiter)] = []
    /// The number of the first that have had their turn.
    var first = 0
  }

  private let state: Mutex<State>

  init(_ limit: Int) { state = Mutex(State(free: limit)) }

  /// Waits until so many may travel.
  func enter(_ count: Int, until deadline: Deadline) async throws(BusFailure) {
    let isFree = state.withLock { state in
      guard state.first == state.waiting.count, state.free >= count else { return false }
      state.free -= count
      return true
    }
    if isFree { return }
    try await Waiter.wait(until: deadline) { waiter in
      state.withLock { $0.waiting.append((count, waiter)) }
      // Somebody may have left since.
      leave(0)
    }
  }

  /// Makes room for others.
  func leave(_ count: Int) {
    state.withLock { state in
      state.free += count
      while state.first < state.waiting.count {
        let (count, waiter) = state.waiting[state.first]
        if !waiter.isOver {
          guard state.free >= count else { break }
          if waiter.end() { state.free -= count }
        }
        state.first += 1
      }
      if state.first > 1000 || state.first == state.waiting.count {
        state.waiting.removeFirst(state.first)
        state.first = 0
      }
    }
  }
}
#endif
