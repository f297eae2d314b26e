#if os(Linux)
import Testing

/// The operations of several threads and processes on one key, with their times.
package struct LinearizabilityLog {
  package struct Event {
    package let start: Int
    package let end: Int
    package let isWrite: Bool
    /// The value under the key at that time, or `nil` if there was none.
    package let value: String?
  }

  private var events: [Event] = []

  /// Reads the output of `KeyringWorker mix` or `mix-on`, by key.
  package static func read(_ output: String) throws -> [String: LinearizabilityLog] {
    var histories: [String: LinearizabilityLog] = [:]
    for line in output.split(separator: "\n") {
      let fields = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
      try #require(fields.count == 5)
      let event = Event(
        start: try #require(Int(fields[1])), end: try #require(Int(fields[2])),
        isWrite: fields[3] == "write", value: fields[4].isEmpty ? nil : fields[4])
      histories[fields[0], default: LinearizabilityLog()].events.append(event)
    }
    return histories
  }

  /// Finds the reads that no order of the operations explains.
  ///
  /// Operations that overlap may have happened in any order. A value was there if its write had
  /// begun before the read ended, and if no other write lies wholly between the two.
  ///
  /// - Parameter last: The value under the key after all operations.
  /// - Returns: The reads that found a value that was no longer there, or not yet.
  package func violations(last: String?) -> [Event] {
    let nothing = Event(start: .min, end: .min, isWrite: true, value: nil)
    let end = Event(start: .max, end: .max, isWrite: false, value: last)
    let writes = [nothing] + events.filter(\.isWrite)
    let reads = events.filter { !$0.isWrite } + [end]
    // For each read, this is the start of the last write that had ended.
    return reads.filter { read in
      let overwritten = writes.filter { $0.end < read.start }.map(\.start).max() ?? .min
      return !writes.contains {
        $0.value == read.value && $0.start < read.end && $0.end >= overwritten
      }
    }
  }
}
#endif
