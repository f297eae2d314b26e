// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import TestPrograms
import Testing

/// The check of what several threads and processes have read and written.
///
/// Each line of a history is the start and the end of an operation, its kind, and the value. The last line is
/// the value after all of them.
@Suite struct LinearizabilityLogTests {
  private func violations(_ history: [String], last: String?) throws -> [LinearizabilityLog.Event] {
    let lines = history.map { line in
      let words = line.split(separator: " ")
      let end = words[1] == "never" ? "\(Int.max)" : words[1]
      return "key\t\(words[0])\t\(end)\t\(words[2])\t\(words.count > 3 ? words[3] : "")\n"
    }
    return try LinearizabilityLog.read(lines.joined())["key"]?.violations(last: last) ?? []
  }

  @Test(
    arguments: [
      (["0 1 write a", "2 3 read a", "4 5 write b", "6 7 read b"], "b"),
      // Operations that overlap have any order.
      (["0 10 write a", "1 9 write b", "2 3 read a", "4 5 read b"], "b"),
      (["0 1 write a", "2 9 write b", "3 4 read a", "5 6 read b"], "b"),
      (["0 1 write a", "2 9 write", "3 4 read a", "5 6 read"], nil),
      // Nobody knows whether a write without an end was done, or when.
      (["0 1 write a", "2 never write b", "3 4 read a"], "a"),
      (["0 1 write a", "2 never write b", "3 4 read a", "5 6 read b"], "b"),
      (["0 1 read", "2 3 write a", "4 5 refusal b"], "a"),
    ] as [([String], String?)])
  func `an order explains the operations`(history: [String], last: String?) throws {
    #expect(try violations(history, last: last).isEmpty)
  }

  @Test(
    arguments: [
      // A lost write
      (["0 1 write a"], nil), (["0 1 write a", "2 3 write b"], "a"),
      // An old value, a value that comes too early, and one that was never written
      (["0 1 write a", "2 3 write b", "4 5 read a"], "b"), (["0 1 read a", "2 3 write a"], "a"),
      (["0 1 write a", "2 3 read b"], "a"), (["0 1 write a", "2 3 refusal b", "4 5 read b"], "a"),
      // The old value after the new one, while the write of the new one goes on
      (["0 1 write a", "2 9 write b", "3 4 read b", "5 6 read a"], "b"),
      (["0 9 write a", "0 9 write b", "1 2 read a", "3 4 read b", "5 6 read a"], "b"),
      (["0 1 write a", "2 never write b", "3 4 read b", "5 6 read a"], "a"),
      // A value that comes back
      (["0 1 write a", "2 9 write", "3 4 read", "5 6 read a"], "a"),
      (["0 1 write a", "4 20 write b", "2 10 read b", "30 31 read a"], "a"),
    ] as [([String], String?)])
  func `no order explains the operations`(history: [String], last: String?) throws {
    #expect(try !violations(history, last: last).isEmpty)
  }
}
#endif
