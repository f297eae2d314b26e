// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
package import KeyringStorage

/// The writes of one item, the events that observers got, and the values that they have read.
///
/// One writer follows another, and none writes a value again. Between two rests, the entries of the observers may come
/// before those of the writes, because a writer in another process reports a write later.
package struct ObservationHistory: Sendable {
  package enum Entry: Hashable, Sendable {
    /// A write of a value, or a removal.
    case wrote(String?, Outcome)
    /// An event that an observer got.
    case told(_ observer: String, StorageEvent)
    /// A value that an observer has read, or `nil` if there was none.
    case read(_ observer: String, String?)
    /// The value that a new reader finds while nobody writes, after all observers had time to follow.
    case rest(String?)
  }

  package enum Outcome: String, Sendable {
    case acknowledged, failed
    /// The writer or the keyring was killed, so nobody knows whether the write was done.
    case unknown
  }

  package enum Fault: Hashable, Sendable {
    /// A reader finds less than what was acknowledged, or what was never written.
    case lost(found: String?)
    /// An observer has read an older value after a newer one.
    case backInTime(_ observer: String, String?)
    /// An observer has read what nobody has written, or what a writer was told had failed.
    case neverWritten(_ observer: String, String?)
    /// An observer has read another value last, and wasn't notified of this one.
    case missed(_ observer: String, String?)
    /// An observer was notified of an interruption and not of its end.
    case notResumed(_ observer: String)
    /// An observer was notified of a change that an item can't have after the one before.
    case contradiction(_ observer: String, ItemChange)
  }

  /// The faults of a keyring that its observers can't be kept from.
  package struct Exceptions: OptionSet, Sendable {
    package let rawValue: Int

    package init(rawValue: Int) { self.rawValue = rawValue }

    /// When the keyring is killed, it may lose what it has acknowledged.
    package static let lostWrites = Exceptions(rawValue: 1)
    /// A read may miss an item that is being written.
    package static let missedItems = Exceptions(rawValue: 2)
  }

  private struct Observer {
    /// The first value that the next read may find.
    var position = 0
    var last: String?
    var isInterrupted = false
    /// Whether there is an item, by the events that the observer got.
    var isThere: Bool?
  }

  package private(set) var entries: [Entry] = []
  private let exceptions: Exceptions

  package init(_ entries: [Entry] = [], except exceptions: Exceptions = []) {
    (self.entries, self.exceptions) = (entries, exceptions)
  }

  package mutating func append(_ entry: Entry) { entries.append(entry) }

  /// Finds what an observer must never meet.
  ///
  /// The history begins and ends with a rest. An observer may read each value that was written, but not all of them,
  /// in their order. At each rest, it has read the same value as a new reader, and no interruption is left.
  package func faults() -> [Fault] {
    var faults: [Fault] = []
    var observers: [String: Observer] = [:]
    /// The values since the last rest, in their order, with the value of that rest, and writes whose fate it left open.
    var values: [(value: String?, outcome: Outcome)] = []
    var past: Set<String?> = []
    var round: [Entry] = []
    for entry in entries {
      guard case .rest(let value) = entry else {
        if case .wrote(let value, let outcome) = entry {
          if outcome != .failed { values.append((value, outcome)) }
        } else {
          round.append(entry)
        }
        continue
      }
      let acknowledged = values.lastIndex { $0.outcome == .acknowledged } ?? 0
      var end = values[acknowledged...].lastIndex { $0.value == value }
      if end == nil {
        let isKnown = past.contains(value) || values.contains { $0.value == value } || value == nil
        if !values.isEmpty, !isKnown || !exceptions.contains(.lostWrites) {
          faults.append(.lost(found: value))
        }
        end = values.count
        values.append((value, .acknowledged))
      }
      past.formUnion(values.map(\.value))
      let order = values.map(\.value)
      for entry in round { faults += take(entry, order, past, &observers) }
      for (name, observer) in observers.sorted(by: { $0.key < $1.key }) {
        if observer.last != value { faults.append(.missed(name, value)) }
        if observer.isInterrupted { faults.append(.notResumed(name)) }
        observers[name]?.position = 0
        observers[name]?.last = value
      }
      values = [(value, .acknowledged)] + values[(end ?? 0)...].dropFirst()
      round = []
    }
    return faults
  }

  private func take(
    _ entry: Entry, _ values: [String?], _ past: Set<String?>, _ observers: inout [String: Observer]
  ) -> [Fault] {
    switch entry {
    case .read(let name, let value):
      var observer = observers[name] ?? Observer()
      observer.last = value
      let next = values[observer.position...].firstIndex(of: value)
      if let next { observer.position = next }
      observers[name] = observer
      if next != nil || value == nil && exceptions.contains(.missedItems) { return [] }
      return [past.contains(value) ? .backInTime(name, value) : .neverWritten(name, value)]
    case .told(let name, .changed(let change)):
      let (needsItem, isThere) =
        switch change {
        case .created: (false, true)
        case .replaced: (true, true)
        case .removed: (true, false)
        }
      let before = observers[name, default: Observer()].isThere ?? needsItem
      observers[name, default: Observer()].isThere = isThere
      return before == needsItem ? [] : [.contradiction(name, change)]
    case .told(let name, .interrupted): observers[name, default: Observer()].isInterrupted = true
    case .told(let name, .resumed): observers[name, default: Observer()].isInterrupted = false
    case .told, .wrote, .rest: break
    }
    return []
  }
}
#endif
