#if os(Linux)
import Testing

/// What several threads and processes have done under one key, and when.
package struct LinearizabilityLog {
  package struct Event {
    package let start: Int
    package let end: Int
    package let isWrite: Bool
    /// What was under the key then; `nil` for nothing.
    package let value: String?
  }

  private var events: [Event] = []

  /// Reads what `KeyringWorker mix` has printed, by key.
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

  /// Finds what was read although no order of the operations explains it.
  ///
  /// Operations that overlap may have happened in any order. A value was there if its write had
  /// begun before the read ended, and if no other write lies wholly between the two.
  ///
  /// - Parameter last: What is under the key when all is done.
  /// - Returns: The reads that found what was not there any more, or not yet.
  package func violations(last: String?) -> [Event] {
    let nothing = Event(start: .min, end: .min, isWrite: true, value: nil)
    let end = Event(start: .max, end: .max, isWrite: false, value: last)
    let writes = [nothing] + events.filter(\.isWrite)
    let reads = events.filter { !$0.isWrite } + [end]
    // The start of the last write that had ended, for each read.
    return reads.filter { read in
      let overwritten = writes.filter { $0.end < read.start }.map(\.start).max() ?? .min
      return !writes.contains {
        $0.value == read.value && $0.start < read.end && $0.end >= overwritten
      }
    }
  }
}
#endif
