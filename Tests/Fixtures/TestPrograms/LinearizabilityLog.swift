// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Foundation
package import KeyringStorage
import Testing

/// The operations of several threads and processes on one key, with their times.
package struct LinearizabilityLog {
  package struct Event {
    package enum Kind: String {
      case write, read
      /// An addition that found another item.
      case refusal
    }

    package let start: Int
    package let end: Int
    package let kind: Kind
    /// The value under the key at that time, or `nil` if there was none.
    ///
    /// The value of a refusal is the one that wasn't added.
    package let value: String?
  }

  private var events: [Event] = []

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
      let fields = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
      try #require(fields.count == 5)
      let event = Event(
        start: try #require(Int(fields[1])), end: try #require(Int(fields[2])),
        kind: try #require(Event.Kind(rawValue: fields[3])),
        value: fields[4].isEmpty ? nil : fields[4])
      histories[fields[0], default: LinearizabilityLog()].events.append(event)
    }
    return histories
  }

  /// Finds the operations that no order explains.
  ///
  /// Operations that overlap may have happened in any order. A value was there if its write had
  /// begun before the read ended, and if no other write lies wholly between the two. Reads must also agree
  /// with each other: see ``contradictions(_:)``.
  ///
  /// - Parameters:
  ///   - last: The value under the key after all operations.
  ///   - showsRefusedAdditions: A Boolean value that indicates whether an addition may be read before it's
  ///     refused.
  /// - Returns: The reads that found a value that was no longer there, or not yet, and the operations that
  ///   contradict others.
  package func violations(last: String?, showsRefusedAdditions: Bool = false) -> [Event] {
    let nothing = Event(start: .min, end: .min, kind: .write, value: nil)
    let end = Event(start: .max, end: .max, kind: .read, value: last)
    let writes = [nothing] + events.filter { $0.kind == .write }
    let refusals = showsRefusedAdditions ? events.filter { $0.kind == .refusal } : []
    let reads = events.filter { $0.kind == .read } + [end]
    // For each read, this is the start of the last write that had ended.
    let wrongReads = reads.filter { read in
      let overwritten = writes.filter { $0.end < read.start }.map(\.start).max() ?? .min
      let isWritten = writes.contains {
        $0.value == read.value && $0.start < read.end && $0.end >= overwritten
      }
      let isRefused = refusals.contains {
        $0.value == read.value && $0.start < read.end && $0.end > read.start
      }
      return !isWritten && !isRefused
    }
    let refused = Set(refusals.map(\.value))
    return wrongReads
      + Self.contradictions(writes.dropFirst() + reads.filter { !refused.contains($0.value) })
  }

  /// The operations on one value, or one that removed the item or found none.
  private struct Zone {
    private(set) var events: [Event] = []
    /// The end of the operation that ended first, before which the value was there.
    private(set) var firstEnd = Int.max
    /// The start of the operation that began last, after which the value was there.
    private(set) var lastStart = Int.min

    mutating func add(_ event: Event) {
      events.append(event)
      firstEnd = min(firstEnd, event.end)
      lastStart = max(lastStart, event.start)
    }
  }

  /// Finds the operations during which another value must have been there.
  ///
  /// Each value is written once, so it's there without a break between any two operations that found it. The
  /// conditions are those of Gibbons and Korach, "Testing Shared Memories" (1997).
  private static func contradictions(_ events: [Event]) -> [Event] {
    var zones: [String: Zone] = [:]
    var others: [Zone] = []
    for event in events {
      if let value = event.value {
        zones[value, default: Zone()].add(event)
      } else {
        others.append(Zone())
        others[others.count - 1].add(event)
      }
    }
    let all = others + zones.values
    let lasting = zones.filter { $1.firstEnd < $1.lastStart }
    return all.filter { zone in
      lasting.contains { value, other in
        value != zone.events[0].value && other.firstEnd < zone.lastStart
          && zone.firstEnd < other.lastStart
      }
    }.flatMap(\.events)
  }
}
#endif
