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

  /// Finds the reads that no order of the operations explains.
  ///
  /// Operations that overlap may have happened in any order. A value was there if its write had
  /// begun before the read ended, and if no other write lies wholly between the two.
  ///
  /// - Parameters:
  ///   - last: The value under the key after all operations.
  ///   - showsRefusedAdditions: A Boolean value that indicates whether an addition may be read before it's
  ///     refused.
  /// - Returns: The reads that found a value that was no longer there, or not yet.
  package func violations(last: String?, showsRefusedAdditions: Bool = false) -> [Event] {
    let nothing = Event(start: .min, end: .min, kind: .write, value: nil)
    let end = Event(start: .max, end: .max, kind: .read, value: last)
    let writes = [nothing] + events.filter { $0.kind == .write }
    let refusals = showsRefusedAdditions ? events.filter { $0.kind == .refusal } : []
    let reads = events.filter { $0.kind == .read } + [end]
    // For each read, this is the start of the last write that had ended.
    return reads.filter { read in
      let overwritten = writes.filter { $0.end < read.start }.map(\.start).max() ?? .min
      let isWritten = writes.contains {
        $0.value == read.value && $0.start < read.end && $0.end >= overwritten
      }
      let isRefused = refusals.contains {
        $0.value == read.value && $0.start < read.end && $0.end > read.start
      }
      return !isWritten && !isRefused
    }
  }
}
#endif
