// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import KeyringStorage
import TestPrograms
import Testing

/// The check of the events and values that observers got.
///
/// Each history is that of one observer, and begins with a rest at the value 0. A write without a number is a removal,
/// and a read without one found nothing.
@Suite struct ObservationHistoryTests {
  private static let key = ItemKey.password(service: "service", account: "account")

  private func entry(_ text: String) throws -> ObservationHistory.Entry {
    let words = text.split(separator: " ").map(String.init)
    let value = words.count > 1 ? words[1] : nil
    return switch words[0] {
    case "write": .wrote(value, .acknowledged)
    case "fail": .wrote(value, .failed)
    case "doubt": .wrote(value, .unknown)
    case "created": .told("o", .changed(.created(Self.key)))
    case "replaced": .told("o", .changed(.replaced(Self.key)))
    case "removed": .told("o", .changed(.removed(Self.key)))
    case "interrupted": .told("o", .interrupted)
    case "resumed": .told("o", .resumed)
    case "read": .read("o", value)
    case "rest": .rest(value)
    default: throw CancellationError()
    }
  }

  private func faults(
    _ history: String, except exceptions: ObservationHistory.Exceptions = []
  ) throws -> [ObservationHistory.Fault] {
    let entries = try "rest 0, read 0, \(history)".split(separator: ",").map {
      try entry(String($0))
    }
    return ObservationHistory(entries, except: exceptions).faults()
  }

  @Test(arguments: [
    "rest 0",
    "write 1, replaced, read 1, rest 1",
    // Several changes may be reported as one, and a read may be early or late.
    "write 1, write 2, write 3, replaced, read 3, rest 3",
    "read 2, write 1, write 2, rest 2",
    "write 1, write 2, replaced, read 1, replaced, read 2, rest 2",
    "write 1, write, write 2, removed, read, created, read 2, rest 2",
    // A doubtful write was done, or not, or is done later.
    "doubt 1, replaced, read 1, rest 1", "doubt 1, rest 0", "doubt 1, rest 0, read 1, rest 1",
    "write 1, doubt 2, read 1, rest 1, write 3, read 3, rest 3",
    "fail 1, rest 0",
    "interrupted, write 1, resumed, read 1, rest 1", "interrupted, resumed, rest 0",
    // The next writer begins with the value that is there.
    "doubt 1, rest 0, write 1, read 1, rest 1",
  ])
  func `an observer may meet this`(history: String) throws {
    #expect(try faults(history) == [])
  }

  @Test(
    arguments: [
      ("write 1, read 1, read 0, read 1, rest 1", .backInTime("o", "0")),
      ("write 1, write 2, read 2, read 1, read 2, rest 2", .backInTime("o", "1")),
      ("write 1, read 1, rest 1, read 0, read 1, rest 1", .backInTime("o", "0")),
      ("doubt 1, read 1, read 0, rest 0", .backInTime("o", "0")),
      ("write, write 1, read 1, read, read 1, rest 1", .backInTime("o", nil)),
      ("interrupted, write 1, read 1, resumed, read 0, read 1, rest 1", .backInTime("o", "0")),
      ("write 1, rest 1", .missed("o", "1")),
      ("write 1, write 2, read 1, rest 2", .missed("o", "2")),
      ("doubt 1, rest 1", .missed("o", "1")), ("write, rest", .missed("o", nil)),
      ("interrupted, write 1, resumed, rest 1", .missed("o", "1")),
      ("interrupted, rest 0", .notResumed("o")),
      ("interrupted, resumed, interrupted, write 1, read 1, rest 1", .notResumed("o")),
      ("read 1, read 0, rest 0", .neverWritten("o", "1")),
      ("fail 1, read 1, read 0, rest 0", .neverWritten("o", "1")),
      ("write 1, read 1, rest 0", .lost(found: "0")), ("write 1, rest 2", .lost(found: "2")),
      ("replaced, created, rest 0", .contradiction("o", .created(key))),
      ("removed, replaced, rest 0", .contradiction("o", .replaced(key))),
      ("removed, removed, rest 0", .contradiction("o", .removed(key))),
    ] as [(String, ObservationHistory.Fault)])
  func `an observer must not meet this`(history: String, fault: ObservationHistory.Fault) throws {
    #expect(try faults(history).contains(fault))
  }

  /// KWallet loses what it has acknowledged when it's killed, but never goes to a value that it hasn't had.
  @Test func `a keyring that forgets takes its observers back in time`() throws {
    let history = "write 1, read 1, interrupted, resumed, read 0, rest 0"
    #expect(try faults(history, except: .lostWrites) == [])
    #expect(try faults(history).contains(.lost(found: "0")))
    #expect(try faults("write 1, read 1, rest 0", except: .lostWrites) == [.missed("o", "0")])
    #expect(try faults("write 1, read 1, read 2, rest 2", except: .lostWrites) != [])
    let twice = "write 1, read 1, read 0, read 1, read 0, rest 0"
    #expect(try faults(twice, except: .lostWrites).contains(.backInTime("o", "1")))
    let gap = "write 1, read 1, read, read 1, rest 1"
    #expect(try faults(gap) == [.neverWritten("o", nil)])
    #expect(try faults(gap, except: .missedItems) == [])
    #expect(try faults("write 1, read 1, read, rest 1", except: .missedItems) != [])
  }
}
#endif
