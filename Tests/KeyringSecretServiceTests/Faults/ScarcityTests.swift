// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Foundation
import Keyring
import TestPrograms
import Testing

/// Uses of the keyring by processes that lack file descriptors or memory for threads.
///
/// Nothing is sanitized, because a sanitizer needs descriptors and much memory.
@Suite(.withOwnKeyring, .tags(.unsanitized)) struct ScarcityTests {
  private static let uses = [
    "read", "awaitedRead", "save", "list", "observe", "pendingReads", "cachedRead",
  ]

  private let bus: PrivateBus
  private let service: FakeService

  init() throws {
    (bus, service) = try PrivateBus.with { try FakeService(on: $0) }
    try service.quiet()
  }

  @Test(.tags(.slow), arguments: uses)
  func `a call without a file descriptor fails, and the next one works`(
    use: String
  ) throws {
    for before in ["nothing", "read", "all"] {
      for count in 0...4 { try expectSurvival(use, after: before, "descriptors", count) }
    }
  }

  @Test(.tags(.slow), arguments: uses) func `a call without a thread fails, and the next one works`(
    use: String
  ) throws {
    // Without memory for a stack, there may also be none for loading libsecret.
    for before in ["read", "all"] {
      for count in [0, 1, 2, 4, 7] { try expectSurvival(use, after: before, "threads", count) }
    }
  }

  private func expectSurvival(
    _ use: String, after before: String, _ scarcity: String, _ count: Int
  ) throws {
    let worker = try Program(
      Program.workerPath, ["starve", use, before, scarcity, "\(count)"],
      environment: bus.environment)
    let (status, output) = try worker.finish()
    let lines = String(decoding: output, as: UTF8.self).split(separator: "\n")
    let name = "\(use) after \(before) with \(count) \(scarcity): \(lines)"
    try #require(status == 0 && lines.count == 2, "\(name)")
    let number = scarcity == "threads" ? EAGAIN : EMFILE
    let isExpected = lines[0].contains("(other)") && lines[0].contains("[errno \(number):")
    #expect(lines[0] == "ok" || isExpected, "\(name)")
  }

  /// The number of operations of each kind; 500 were tried by hand.
  private static let count =
    ProcessInfo.processInfo.environment["KEYRING_TEST_LATE_CALLS"].flatMap(Int.init) ?? 12

  /// The process is one of its own, because other tests open files.
  @Test(.tags(.slow), arguments: [false, true]) func `late calls leave nothing`(isKnown: Bool) async
  {
    await #expect(processExitsWith: .success) { [isKnown] in
      let (bus, service) = try PrivateBus.with { try FakeService(on: $0) }
      try service.quiet()
      if isKnown { try service.takeName("org.gnome.keyring") }
      let storage = bus.storage(serviceTimeout: .milliseconds(30))
      let methods = ["ReadAlias", "OpenSession", "Get", "SearchItems", "GetSecrets", "CreateItem"]
      var before: [String]?
      for number in 0..<Self.count {
        for (index, use) in [StorageUse.read, .find, .save, .remove].enumerated() {
          try service.fault(methods[(number + index) % methods.count], .mute)
          // The calls of a known provider fail only now and then.
          _ = try? use(storage)
          if isKnown { try service.reset() }
        }
        if !isKnown, number % 2 == 1 { try service.reset() }
        if number == 1 { before = try OwnProcess.openFiles() }
      }
      let after = try OwnProcess.openFiles()
      #expect(after.count - (before ?? []).count <= 8, "\(after), and at first \(before ?? [])")
    }
  }
}
#endif
