// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Foundation
import Glibc
import Keyring
import KeyringRuntime
import KeyringStorage
import Testing

@testable import KeyringSecretService

/// A machine without a session bus, on which every use fails in time.
@Suite(.withoutKeyring) struct NoBusTests {
  private func failure(of listener: Listener, timeout: Duration) -> SecureStorageError? {
    let storage = listener.storage(serviceTimeout: timeout)
    return #expect(throws: SecureStorageError.self) { try StorageUse.read(storage) }
  }

  @Test(
    arguments: [
      "unix:path=/nonexistent/bus", "garbage", "unix:nonsense=1", "",
    ], StorageUse.allCases)
  func `an address without a bus is an error with advice`(address: String, use: StorageUse) {
    let error = use.expectFailure(
      .noSessionBus, SecretServiceStorage(options: .init(busAddress: address)),
      recoverySuggestion: "dbus-run-session")
    #expect(error?.underlying != nil)
  }

  @Test(arguments: StorageUse.allCases)
  func `a refused connection is an error that names its cause`(use: StorageUse) throws {
    // The socket no longer has a listener.
    let path = NSTemporaryDirectory() + UUID().uuidString
    let listener = try Listener(at: path)
    listener.close()
    defer { unlink(path) }
    use.expectFailure(
      .noSessionBus, SecretServiceStorage(options: .init(busAddress: "unix:path=\(path)")),
      cause: "refused", recoverySuggestion: "dbus-run-session")
  }

  /// dbus-broker closes connections above its limit.
  ///
  /// There is a bus, and there may be a keyring.
  @Test(arguments: [true, false])
  func `a bus that closes connections at once is not a missing bus`(afterReading: Bool) throws {
    let listener = try Listener()
    listener.closeConnections(afterReading: afterReading)
    let storage = listener.storage()
    StorageUse.allCases.expectFailures(
      .connectionLost, storage, cause: "accepted the connection, and closed it",
      recoverySuggestion: "limit")
    let diagnosis = storage.diagnose()
    #expect(diagnosis.failure?.code == .connectionLost)
    #expect(diagnosis.findings.last?.subject == "session bus")
    try storage.expectNoOtherSelection(.connectionLost)
  }

  /// A trap would end the program by a signal, with a stack.
  @Test(arguments: ["sign-in", "show", "sign-out"])
  func `an app without a bus ends with a message on standard error`(command: String) throws {
    let app = Program.path(of: "SecureSettings")
    let end = try Program(
      "sh", ["-c", "\(app) \(command) 2>&1 >/dev/null"],
      environment: ["DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent"]
    ).finish()
    #expect(end.status == 1)
    let text = String(decoding: end.output, as: UTF8.self)
    #expect(text.contains("bus can be reached at \"unix:path=/nonexistent\". "), "\(text)")
  }

  // The test has a process of its own, because variables belong to the whole process.
  @Test(arguments: ["unset", "empty", "dead", "garbage", "autolaunch"])
  func `an unusable session bus in the environment is an error`(address: String) async {
    await #expect(processExitsWith: .success) { [address = address as String] in
      // GLib must not find a bus elsewhere either.
      for name in ["DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "XDG_RUNTIME_DIR", "SUDO_UID"] {
        unsetenv(name)
      }
      let values = [
        "empty": "", "dead": "unix:path=/nonexistent/bus", "garbage": "garbage",
        "autolaunch": "autolaunch:",
      ]
      if address == "autolaunch" {
        // GLib runs dbus-launch, which isn't there.
        setenv("DISPLAY", ":99", 1)
        setenv("PATH", "/nonexistent", 1)
      }
      if let value = values[address] { setenv("DBUS_SESSION_BUS_ADDRESS", value, 1) }
      // The machine of a developer has a bus.
      StorageUse.allCases.expectFailures(
        .noSessionBus, SecretServiceStorage(),
        recoverySuggestion: BusAddress.suggestion(insteadOf: nil) ?? "dbus-run-session")
    }
  }

  // The test has a process of its own, because variables belong to the whole process.
  @Test func `no bus is started on an X display`() async {
    await #expect(processExitsWith: .success) {
      let directory = TemporaryDirectory()
      // GLib looks for this program in PATH.
      try directory.write("#!/bin/sh\ntouch \"$0.started\"\n", "dbus-launch")
      try directory.setMode(0o700, of: "dbus-launch")
      for name in ["DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR"] { unsetenv(name) }
      setenv("DISPLAY", ":0", 1)
      setenv("PATH", directory.path + ":/usr/bin:/bin", 1)
      StorageUse.read.expectFailure(
        .noSessionBus, SecretServiceStorage(), cause: "there is no bus in XDG_RUNTIME_DIR")
      #expect(try directory.names() == ["dbus-launch"])
    }
  }

  // The test has a process of its own, because that process can't open another file.
  @Test func `too many open files are not mistaken for a missing bus`() async {
    await #expect(processExitsWith: .success) {
      let listener = try Listener()
      // GLib opens some files only once, and ends the process if it can't.
      let dead = SecretServiceStorage(options: .init(busAddress: "unix:path=/nonexistent/bus"))
      StorageUse.read.expectFailure(.noSessionBus, dead)
      while dup(STDIN_FILENO) >= 0 {}
      StorageUse.read.expectFailure(.other, listener.storage(), cause: "open files")
    }
  }

  @Test func `a connection to a silent socket ends at the deadline`() throws {
    let listener = try Listener()
    let start = ContinuousClock.now
    let error = failure(of: listener, timeout: .milliseconds(300))
    #expect(error?.code == .timedOut)
    // The call hasn't reached any keyring.
    #expect(error?.message == "The session bus didn't answer in time.")
    #expect(ContinuousClock.now - start < .seconds(10))
    // The call has waited, and wasn't refused at once.
    #expect(ContinuousClock.now - start >= .milliseconds(300))
  }

  // The test has a process of its own, in which nothing else opens files.
  @Test func `calls that time out leave no connection open`() async {
    await #expect(processExitsWith: .success) {
      let listener = try Listener()
      let storage = listener.storage(serviceTimeout: .milliseconds(50))
      // Dispatch and GLib open other files when they first need them.
      func openSockets() throws -> Int {
        try OwnProcess.openFiles().count { $0.hasPrefix("socket:") }
      }
      let before = try openSockets()
      for _ in 0..<10 { StorageUse.read.expectFailure(.timedOut, storage) }
      #expect(try waitUntil { try openSockets() <= before })
    }
  }

  @Test func `an actor's other calls don't hold up a synchronous call`() async throws {
    actor Desk {
      let storage: SecretServiceStorage
      private(set) var other: Task<Void, any Error>?

      init(_ storage: SecretServiceStorage) { self.storage = storage }

      func read() async throws {
        _ = try await storage.password(for: .password(service: "service", account: "account"))
      }

      func serve() {
        other = Task { try await self.read() }
        usleep(100_000)
      }
    }
    let listener = try Listener()
    let desk = Desk(listener.storage(serviceTimeout: .seconds(30)))
    let start = ContinuousClock.now
    await withCheckedContinuation { continuation in
      DispatchQueue(label: listener.path).async {
        ThreadExecutor.runToEnd { await desk.serve() }
        continuation.resume()
      }
    }
    let other = try #require(await desk.other)
    other.cancel()
    await expectError(.canceled) { try await other.value }
    #expect(ContinuousClock.now - start < .seconds(20))
  }

  @Test func `the short deadline of one caller does not apply to another`() throws {
    let listener = try Listener()
    let path = listener.path
    let group = DispatchGroup()
    DispatchQueue(label: path).async(group: group) { [self] in
      #expect(failure(of: listener, timeout: .milliseconds(200))?.code == .timedOut)
    }
    let start = ContinuousClock.now
    #expect(failure(of: listener, timeout: .milliseconds(1000))?.code == .timedOut)
    #expect(ContinuousClock.now - start >= .milliseconds(1000))
    group.wait()
  }

  @Test func `many threads wait for a silent socket at the same time`() throws {
    let listener = try Listener()
    let start = ContinuousClock.now
    let path = listener.path
    let group = DispatchGroup()
    for _ in 0..<16 {
      // Each call has a thread. Tasks would share as many threads as there are processors.
      DispatchQueue(label: path).async(group: group) { [self] in
        let error = failure(of: listener, timeout: .seconds(1))
        #expect(error?.code == .timedOut)
      }
    }
    group.wait()
    // One after another, they would take 16 seconds.
    #expect(ContinuousClock.now - start < .seconds(12))
  }
}
#endif
