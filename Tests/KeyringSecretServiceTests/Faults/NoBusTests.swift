#if SecretService && os(Linux)
import Foundation
import Glibc
import Keyring
import Testing

/// No bus: what a caller gets, and that it gets it in time.
@Suite struct NoBusTests {
  private func failure(at address: String, timeout: Duration) -> SecureStorageError? {
    let storage = SecretServiceStorage(
      options: .init(serviceTimeout: timeout, busAddress: address))
    return #expect(throws: SecureStorageError.self) { try StorageUse.read(storage) }
  }

  @Test(
    arguments: [
      "unix:path=/nonexistent/bus", "tcp:host=localhost,port=1", "garbage", "unix:nonsense=1", "",
    ], StorageUse.allCases)
  func deadAddress(address: String, use: StorageUse) {
    let error = use.expectFailure(
      .noSessionBus, SecretServiceStorage(options: .init(busAddress: address)),
      recoverySuggestion: "dbus-run-session")
    #expect(error?.underlying != nil)
  }

  @Test(arguments: StorageUse.allCases) func refusedConnection(use: StorageUse) throws {
    // A socket that nobody listens on any more.
    let path = NSTemporaryDirectory() + UUID().uuidString
    let listener = try Listener(at: path)
    listener.close()
    defer { unlink(path) }
    use.expectFailure(
      .noSessionBus, SecretServiceStorage(options: .init(busAddress: "unix:path=\(path)")),
      cause: "refused", recoverySuggestion: "dbus-run-session")
  }

  /// dbus-broker does so above the limit of its connections: there is a bus, and may be a keyring.
  @Test(arguments: [true, false]) func connectionsThatAreClosedAtOnce(afterReading: Bool) throws {
    let listener = try Listener()
    listener.closeConnections(afterReading: afterReading)
    let storage = SecretServiceStorage(options: .init(busAddress: "unix:path=\(listener.path)"))
    for use in StorageUse.allCases {
      use.expectFailure(
        .connectionLost, storage, cause: "accepted the connection, and closed it",
        recoverySuggestion: "limit")
    }
    let diagnosis = storage.diagnose()
    #expect(diagnosis.failure?.code == .connectionLost)
    #expect(diagnosis.findings.last?.subject == "session bus")
    let file = InMemoryStorage()
    let error = #expect(throws: SecureStorageError.self) {
      try FirstAvailableStorage([storage, file]).setPassword("s3cret", for: StorageUse.key)
    }
    #expect(error?.code == .connectionLost)
    #expect(try !file.exists(StorageUse.key))
  }

  // In a process of its own, as variables belong to the whole process.
  @Test(arguments: ["unset", "empty", "dead", "garbage"]) func sessionBus(address: String) async {
    let result = await #expect(
      processExitsWith: .success, observing: [\.standardErrorContent]
    ) { [address = address as String] in
      // Neither may GLib find one elsewhere.
      for name in ["DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "XDG_RUNTIME_DIR"] { unsetenv(name) }
      let values = ["empty": "", "dead": "unix:path=/nonexistent/bus", "garbage": "garbage"]
      if let value = values[address] { setenv("DBUS_SESSION_BUS_ADDRESS", value, 1) }
      for use in StorageUse.allCases {
        use.expectFailure(
          .noSessionBus, SecretServiceStorage(), recoverySuggestion: "dbus-run-session")
      }
    }
    // Without a failure handler a failed assignment says so, once.
    let text = result.map { String(decoding: $0.standardErrorContent, as: UTF8.self) }
    #expect(text?.contains("noSessionBus") == true)
  }

  // In a process of its own, which can open nothing more.
  @Test func tooManyOpenFilesAreNotTheLackOfABus() async {
    await #expect(processExitsWith: .success) {
      let listener = try Listener()
      // What GLib opens once, and ends the process without.
      let dead = SecretServiceStorage(options: .init(busAddress: "unix:path=/nonexistent/bus"))
      StorageUse.read.expectFailure(.noSessionBus, dead)
      while dup(STDIN_FILENO) >= 0 {}
      StorageUse.read.expectFailure(
        .other,
        SecretServiceStorage(options: .init(busAddress: "unix:path=\(listener.path)")),
        cause: "open files")
    }
  }

  @Test func socketThatNeverAnswersEndsByTheDeadline() throws {
    let listener = try Listener()
    let start = ContinuousClock.now
    let error = failure(at: "unix:path=\(listener.path)", timeout: .milliseconds(300))
    #expect(error?.code == .timedOut)
    // Nobody has got as far as to a keyring.
    #expect(error?.message == "The session bus didn't answer in time.")
    #expect(ContinuousClock.now - start < .seconds(10))
    // The time was spent waiting, not refused at once.
    #expect(ContinuousClock.now - start >= .milliseconds(300))
  }

  @Test func shortDeadlineOfOneCallerIsNotThatOfAnother() throws {
    let listener = try Listener()
    let path = listener.path
    let group = DispatchGroup()
    DispatchQueue(label: path).async(group: group) { [self] in
      #expect(failure(at: "unix:path=\(path)", timeout: .milliseconds(200))?.code == .timedOut)
    }
    let start = ContinuousClock.now
    #expect(failure(at: "unix:path=\(path)", timeout: .milliseconds(1000))?.code == .timedOut)
    #expect(ContinuousClock.now - start >= .milliseconds(1000))
    group.wait()
  }

  @Test func manyThreadsWaitTogetherForASocketThatNeverAnswers() throws {
    let listener = try Listener()
    let start = ContinuousClock.now
    let path = listener.path
    let group = DispatchGroup()
    for _ in 0..<16 {
      // A thread each: tasks would share as many threads as there are processors.
      DispatchQueue(label: path).async(group: group) { [self] in
        let error = failure(at: "unix:path=\(path)", timeout: .milliseconds(500))
        #expect(error?.code == .timedOut)
      }
    }
    group.wait()
    // One after the other they would take eight seconds.
    #expect(ContinuousClock.now - start < .seconds(4))
  }
}
#endif
