// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import StorageModel
import TestPrograms
import Testing

/// The check of what several threads and processes have read and written.
///
/// Each line of a history is the start and the end of an operation, its kind, and the value. The last line is
/// the value after all of them.
@Suite struct LinearizabilityLogTests {
  private func violations(
    _ history: [String], last: String?, except exceptions: LinearizabilityLog.Exceptions = []
  ) throws -> [LinearizabilityLog.Event] {
    let lines = history.map { line in
      let words = line.split(separator: " ")
      let end = words[1] == "never" ? "\(Int.max)" : words[1]
      return "key\t\(words[0])\t\(end)\t\(words[2])\t\(words.count > 3 ? words[3] : "")\n"
    }
    let log = try LinearizabilityLog.read(lines.joined())["key"]
    return log?.violations(last: last, except: exceptions) ?? []
  }

  @Test(
    arguments: [
      (["0 1 write a", "2 9 refusal b", "3 4 read b", "5 6 read a"], "a", .lateRefusals),
      (["0 5 addition a", "1 6 addition b", "2 7 change c"], "c", .lateRefusals),
      (["0 1 write a", "2 9 write b", "3 4 read", "5 6 read b"], "b", .missedItems),
    ] as [([String], String?, LinearizabilityLog.Exceptions)])
  func `an exception explains the operations`(
    history: [String], last: String?, exception: LinearizabilityLog.Exceptions
  ) throws {
    #expect(try violations(history, last: last, except: exception).isEmpty)
    #expect(try !violations(history, last: nil, except: exception).isEmpty)
  }

  @Test func `a doubtful removal may be done, or not, where refusals are late`() throws {
    let history = ["0 1 write a", "1 never removal", "2 3 read a"]
    for last in ["a", nil] {
      #expect(try violations(history, last: last, except: .lateRefusals).isEmpty)
    }
  }

  @Test func `the check agrees with a trial of all orders`() {
    var generator = SeededGenerator(seed: 1)
    var explained = 0
    let count = 5_000
    for number in 0..<count {
      let history = randomHistory(&generator)
      let last = generator.pick([nil, "0", "1", "2", "3"])
      let expected = isExplained(history, last: last, after: nil)
      explained += expected ? 1 : 0
      let violations = LinearizabilityLog(history).violations(last: last)
      #expect(violations.isEmpty == expected, "history \(number): \(history), \(last ?? "nothing")")
    }
    #expect((count / 20...count / 2).contains(explained), "\(explained) of \(count) have an order")
  }

  private func randomHistory(_ generator: inout SeededGenerator) -> [LinearizabilityLog.Event] {
    let kinds: [LinearizabilityLog.Event.Kind] = [
      .write, .addition, .change, .removal, .refusal, .read, .read, .read,
    ]
    return (0..<Int.random(in: 2...6, using: &generator)).map { number in
      let kind = generator.pick(kinds)
      let start = Int.random(in: 0..<12, using: &generator)
      let isDoubtful = kind != .read && kind != .refusal && generator.oneIn(4)
      let value =
        switch kind {
        case .removal: nil as String?
        case .read: generator.pick([nil, "0", "1", "2", "3"])
        default: "\(number)"
        }
      return LinearizabilityLog.Event(
        start: start,
        end: isDoubtful ? .max : start + Int.random(in: 1..<8, using: &generator), kind: kind,
        value: value)
    }
  }

  /// Tries each operation that may come next, and each doubtful one also as one that never happens.
  private func isExplained(
    _ history: [LinearizabilityLog.Event], last: String?, after value: String?
  ) -> Bool {
    if value == last, history.allSatisfy({ $0.end == .max }) { return true }
    return history.indices.contains { index in
      let event = history[index]
      guard !history.contains(where: { $0.end < event.start }) else { return false }
      var rest = history
      rest.remove(at: index)
      switch event.kind {
      case .addition where value != nil, .change where value == nil, .removal where value == nil,
        .refusal where value == nil, .read where value != event.value:
        return false
      case .read, .refusal: return isExplained(rest, last: last, after: value)
      default: return isExplained(rest, last: last, after: event.value)
      }
    }
  }
}
#endif
