// SPDX-License-Identifier: Apache-2.0

#if os(Linux)

/// The search for an order of operations that explains what each of them found.
///
/// The search puts one operation after another, and remembers what it has tried. See Wing and Gong, "Testing and
/// Verifying Concurrent Objects" (1993), and Lowe, "Testing for Linearizability" (2017).
///
/// An order keeps each operation that ended before another began before that one. Each value is written once,
/// so the search never replaces a value that is still to be read.
struct LinearizationSearch {
  typealias Event = LinearizabilityLog.Event

  /// The operations that the order has so far, and the value after them.
  private struct State: Hashable {
    /// All operations before this one are in the order.
    var first = 0
    /// The operations after `first` that are in the order.
    var later: Set<Int> = []
    /// The number of doubtful writes in the order, by kind.
    var doubtful: [Event.Kind: Int] = [:]
    var value: String?

    var count: Int { first + later.count }

    func contains(_ index: Int) -> Bool { index < first || later.contains(index) }

    mutating func add(_ index: Int) {
      later.insert(index)
      while later.remove(first) != nil { first += 1 }
    }
  }

  /// The value of all writes that nobody has read.
  private static let unread = ""

  /// The operations that an order needs, by their starts.
  private let events: [Event]
  /// The starts of the writes that an order may leave out, by kind, in ascending order.
  ///
  /// Nobody has read their values. Of one kind, the one that began first therefore stands for all of them.
  private let doubtful: [Event.Kind: [Int]]
  /// The reads of each value.
  private let reads: [String: [Int]]

  init(_ history: [Event]) {
    var firstReads: [String: Int] = [:]
    for event in history where event.kind == .read {
      if let value = event.value { firstReads[value, default: .max].lower(to: event.end) }
    }
    var events: [Event] = []
    var doubtful: [Event.Kind: [Int]] = [:]
    for event in history {
      let firstRead = event.value.flatMap { firstReads[$0] }
      if event.end == .max, firstRead == nil {
        doubtful[event.kind, default: []].append(event.start)
      } else {
        // A doubtful write whose value was read was done by then.
        let end = event.kind.isWrite ? min(event.end, firstRead ?? .max) : event.end
        let value = event.value.map { firstRead == nil ? Self.unread : $0 }
        events.append(Event(start: event.start, end: end, kind: event.kind, value: value))
      }
    }
    events.sort { $0.start < $1.start }
    self.events = events
    self.doubtful = doubtful.mapValues { $0.sorted() }
    var reads: [String: [Int]] = [:]
    for (index, event) in events.enumerated() where event.kind == .read {
      if let value = event.value { reads[value, default: []].append(index) }
    }
    self.reads = reads
  }

  /// Returns the operations of which none can come next in the longest order, or nothing if an order has all of
  /// them.
  func unexplainedEvents() -> [Event] {
    var states = [State()]
    var seen: Set<State> = []
    var longest = (count: -1, next: [Int]())
    while var state = states.popLast() {
      let (next, time) = addReads(to: &state)
      if next.isEmpty { return [] }
      guard seen.insert(state).inserted else { continue }
      if state.count > longest.count { longest = (state.count, next) }
      if let value = state.value, reads[value, default: []].contains(where: { !state.contains($0) })
      {
        continue
      }
      // The last state is the first that the search goes on with: without doubtful writes, and with the write
      // that ended first.
      for (kind, starts) in doubtful where isPossible(kind, after: state.value) {
        let used = state.doubtful[kind, default: 0]
        guard used < starts.count, starts[used] <= time else { continue }
        var state = state
        state.doubtful[kind] = used + 1
        state.value = kind == .removal ? nil : Self.unread
        states.append(state)
      }
      let writes = next.filter {
        events[$0].kind.isWrite && isPossible(events[$0].kind, after: state.value)
      }
      for index in writes.sorted(by: { events[$0].end > events[$1].end }) {
        var state = state
        state.add(index)
        state.value = events[index].value
        states.append(state)
      }
    }
    return longest.next.map { events[$0] }
  }

  /// Adds the reads and refusals that the value explains, which never closes a way.
  ///
  /// - Returns: The operations that may come next, and the time before which one of them must.
  private func addReads(to state: inout State) -> (next: [Int], time: Int) {
    while true {
      let (next, time) = candidates(after: state)
      let explained = next.filter { isExplained(events[$0], by: state.value) }
      if explained.isEmpty { return (next, time) }
      for index in explained { state.add(index) }
    }
  }

  /// Returns the operations that began before each other one ended, and the first of these ends.
  private func candidates(after state: State) -> (next: [Int], time: Int) {
    var next: [Int] = []
    var time = Int.max
    for index in state.first..<events.count where !state.contains(index) {
      if events[index].start > time { break }
      next.append(index)
      time.lower(to: events[index].end)
    }
    return (next, time)
  }

  private func isExplained(_ event: Event, by value: String?) -> Bool {
    switch event.kind {
    case .read: event.value == value
    case .refusal: value != nil
    case .write, .addition, .change, .removal: false
    }
  }

  private func isPossible(_ write: Event.Kind, after value: String?) -> Bool {
    switch write {
    case .addition: value == nil
    case .change, .removal: value != nil
    case .write, .read, .refusal: true
    }
  }
}

extension Int {
  fileprivate mutating func lower(to other: Int) { self = Swift.min(self, other) }
}
#endif
