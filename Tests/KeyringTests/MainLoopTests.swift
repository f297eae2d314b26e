// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Dispatch
import Foundation
import Keyring
import KeyringRuntime
import KeyringStorage
import StorageModel
import Synchronization
import TestPrograms
import Testing

/// Plain uses of properties for which the main loop has to wait.
///
/// Each test has a process of its own. Dispatch serves the main queue of a test as after `dispatchMain`.
@Suite struct MainLoopTests {
  private typealias Reports = Mutex<[SecurePropertyFailure]>

  /// Makes every wait a long one.
  private static func countEveryWait() { MainLoop.shortestWait.store(0, ordering: .relaxed) }

  /// Runs a closure in the main loop, and returns what the handler gets.
  @discardableResult
  private static func inMainLoop(
    on queue: DispatchQueue = .main, _ storage: any SecureStorage = WaitingStorage(),
    _ use: @escaping @Sendable (Settings) -> Void
  ) async -> [SecurePropertyFailure] {
    await withCheckedContinuation { continuation in
      queue.async {
        let reports = Reports([])
        withSecureStorage(
          storage, failureHandler: { report in reports.withLock { $0.append(report) } }
        ) { use(Settings()) }
        continuation.resume(returning: reports.withLock { $0 })
      }
    }
  }

  @Test func `each property is reported once, whatever its uses`() async {
    await #expect(processExitsWith: .success) {
      Self.countEveryWait()
      let reports = await Self.inMainLoop { settings in
        for _ in 1...2 { _ = settings.authToken }
        settings.authToken = "a marker"
        settings.shared = "a marker"
        // Another value with the same key is the same property.
        Settings().shared = nil
      }
      #expect(reports.map(\.property) == ["authToken", "shared"])
      #expect(reports.map(\.error.operation) == [.read, .save])
      for report in reports {
        #expect(report.error.code == .mainLoopBlocked)
        #expect(report.description.contains("took long") && report.description.contains("await"))
        #expect(!report.description.contains("marker"))
      }
    }
  }

  @Test func `a wait of less than a second isn't reported`() async {
    await #expect(processExitsWith: .success) {
      let reports = await Self.inMainLoop { _ = $0.authToken }
      #expect(reports.isEmpty)
    }
  }

  @Test func `a use that nobody else waits for isn't reported`() async {
    await #expect(processExitsWith: .success) {
      Self.countEveryWait()
      let other = await Self.inMainLoop(on: DispatchQueue(label: "other")) { _ = $0.authToken }
      #expect(other.isEmpty)
      let memory = await Self.inMainLoop(InMemoryStorage()) { $0.authToken = "s3cret" }
      #expect(memory.isEmpty)
    }
  }

  @Test func `a wait for the user isn't reported`() async {
    await #expect(processExitsWith: .success) {
      Self.countEveryWait()
      let reports = await Self.inMainLoop(WaitingStorage(forUser: true)) {
        _ = $0.authToken
        $0.authToken = "s3cret"
      }
      #expect(reports.isEmpty)
    }
  }

  @Test func `a throwing use isn't reported, and not taken for the next plain one`() async {
    await #expect(processExitsWith: .success) {
      Self.countEveryWait()
      let reports = await Self.inMainLoop { settings in
        _ = try? settings.$authToken.read()
        withSecureStorage(InMemoryStorage()) { _ = settings.authToken }
      }
      #expect(reports.isEmpty)
    }
  }

  @Test func `a task of the main actor isn't reported, which a tool may have`() async {
    await #expect(processExitsWith: .success) {
      Self.countEveryWait()
      let reports = Reports([])
      await Task { @MainActor in
        await Task.yield()
        withSecureStorage(
          WaitingStorage(), failureHandler: { report in reports.withLock { $0.append(report) } }
        ) { _ = Settings().authToken }
      }.value
      #expect(reports.withLock { $0.isEmpty })
    }
  }

  @Test(arguments: [("loop", 1), ("tool", 0)])
  func `without a handler it is one line, and none of a tool`(place: String, count: Int) throws {
    let complaints = Pipe()
    let program = try Program(
      Program.workerPath, ["wait-in", place], complaints: complaints.fileHandleForWriting)
    try complaints.fileHandleForWriting.close()
    #expect(try program.finish().status == EXIT_SUCCESS)
    let text = try complaints.fileHandleForReading.readToEnd() ?? Data()
    let lines = String(decoding: text, as: UTF8.self).split(separator: "\n")
    #expect(lines.count == count, "\(lines)")
    #expect(lines.allSatisfy { $0.contains("\"token\"") && $0.contains("await") })
    #expect(!lines.contains { $0.contains("marker") })
  }
}
#endif
