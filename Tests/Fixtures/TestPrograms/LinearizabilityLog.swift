// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Foundation
package import KeyringStorage
import Testing

/// The operations of several threads and processes on one key, with their times.
package struct LinearizabilityLog {
  package struct Event {
    package enum Kind: String {
      /// A write that needs nothing.
      case write
      /// A write that needs a key without an item.
      case addition
      /// A write that needs an item.
      case change
      /// A removal, which needs an item.
      case removal
      /// An addition that found an item.
      case refusal
      case read

      /// Whether the operation leaves another value under the key.
      var isWrite: Bool { self != .refusal && self != .read }
    }

    package let start: Int
    /// The end, or `Int.max` if nobody knows whether the operation was done, or will be.
    package let end: Int
    package let kind: Kind
    /// The value that was read or written, or `nil` if there was no item, or is none since a removal.
    ///
    /// The value of a refusal is the one that wasn't added.
    package let value: String?

    /// Whether the operation is a write that the storage has acknowledged.
    package var isAcknowledgedWrite: Bool { kind.isWrite && end < .max }

    package init(start: Int, end: Int, kind: Kind, value: String?) {
      (self.start, self.end, self.kind, self.value) = (start, end, kind, value)
    }
  }

  /// The things that a storage may do although no order of its operations explains them.
  package struct Exceptions: OptionSet, Sendable {
    package let rawValue: Int

    package init(rawValue: Int) { self.rawValue = rawValue }

    /// A write may look for an item before it, and not at the same moment.
    ///
    /// A refused addition may be read before it's refused. See `SaveMode.add`. The check doesn't see an
    /// addition that is refused although there was no item.
    package static let lateRefusals = Exceptions(rawValue: 1)
    /// A read may miss an item that is being written.
    package static let missedItems = Exceptions(rawValue: 2)
  }

  private var events: [Event]

  package init(_ events: [Event] = []) { self.events = events }

  /// Waits for workers that `KeyringWorker mix` has started, and reads their output, by key.
  package static func read(_ workers: [Program]) throws -> [String: LinearizabilityLog] {
    var output = ""
    for worker in workers {
      let (status, text) = try worker.finish()
      #expect(status == 0)
      output += String(decoding: text, as: UTF8.self)
    }
    let histories = try read(output)
    try #require(!histories.isEmpty, "the workers did nothing")
    return histories
  }

  /// Returns the values of items that workers have stored, by the keys of the output.
  package static func values(of items: [SecureItem]) -> [String: String?] {
    Dictionary(
      uniqueKeysWithValues: items.map {
        ($0.key.attributes["username"] ?? $0.key.attributes["label"] ?? "", $0.secret?.text)
      })
  }

  /// Reads the output of `KeyringWorker mix` or `mix-on`, by key.
  package static func read(_ output: String) throws -> [String: LinearizabilityLog] {
    var histories: [String: LinearizabilityLog] = [:]
    for line in output.split(separator: "\n") {
      let (key, event) = try event(String(line))
      histories[key, default: LinearizabilityLog()].events.append(event)
    }
    return histories
  }

  /// Reads a line of the output of `KeyringWorker mix` or `mix-on`.
  package static func event(_ line: String) throws -> (key: String, event: Event) {
    let fields = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
    try #require(fields.count == 5)
    let event = Event(
      start: try #require(Int(fields[1])), end: try #require(Int(fields[2])),
      kind: try #require(Event.Kind(rawValue: fields[3])),
      value: fields[4].isEmpty ? nil : fields[4])
    return (fields[0], event)
  }

  /// Finds operations that no order explains.
  ///
  /// Operations that overlap may have happened in any order.
  ///
  /// - Parameters:
  ///   - last: The value under the key after all operations.
  ///   - exceptions: The things that the storage may do nevertheless.
  /// - Returns: The operations of which none can come next in the order that explains the most operations, or
  ///   nothing if an order explains all of them.
  package func violations(last: String?, except exceptions: Exceptions = []) -> [Event] {
    var events = events
    if exceptions.contains(.missedItems) {
      events.removeAll { $0.kind == .read && $0.value == nil }
    }
    if exceptions.contains(.lateRefusals) {
      let refusals = events.filter { $0.kind == .refusal }
      events.removeAll { event in
        event.kind == .refusal
          || event.kind == .read
            && refusals.contains {
              $0.value == event.value && $0.start < event.end && $0.end > event.start
            }
      }
      events = events.map {
        // A doubtful removal that finds no item is the same as none.
        let isDoubtfulRemoval = $0.kind == .removal && $0.end == .max
        let kind = $0.kind.isWrite && !isDoubtfulRemoval ? .write : $0.kind
        return Event(start: $0.start, end: $0.end, kind: kind, value: $0.value)
      }
    }
    // The read after all operations has an end, so that a doubtful write isn't after it.
    events.append(Event(start: .max - 1, end: .max - 1, kind: .read, value: last))
    return LinearizationSearch(events).unexplainedEvents()
  }
}
#endif
