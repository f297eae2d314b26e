// SPDX-License-Identifier: Apache-2.0

#if EncryptedFile && os(Linux)
import Foundation
import Keyring
import KeyringRuntime
import KeyringStorage
import Synchronization
import TestPrograms
import Testing

@testable import KeyringFile

/// Turns to change an item of the file, among tasks, threads and processes.
@Suite(.tags(.threads)) struct TurnTests {
  private let directory = TemporaryDirectory()
  private var path: String { directory.path("secrets") }
  private let key = ItemKey.password(service: "service", account: "account")

  private func storage(timeout: Duration = .seconds(25)) -> EncryptedFileStorage {
    EncryptedFileStorage(at: path, key: .keyFile(at: path + ".key"), timeout: timeout)
  }

  /// Starts a program that has its turn.
  private func holder() throws -> Program {
    let program = try Program.worker("keep-turn", path, "service", "60")
    try #require(try program.readLine().hasPrefix("has "))
    return program
  }

  /// Waits until a thread waits for the lock of an item.
  private func waitForThread(of storage: EncryptedFileStorage) async {
    #expect(await waitUntil { storage.file.turns.isWaiting(for: key) })
  }

  /// Takes a turn, and ends it.
  private func take(_ storage: EncryptedFileStorage, for time: Duration = .seconds(60)) async throws
  {
    try await storage.takeTurnWithoutBlocking(for: key, details: .secret, timeout: time).end()
  }

  // MARK: - Exclusion

  @Test func `four processes with threads and tasks have one turn at a time`() throws {
    let workers = try (0..<4).map { _ in
      try Program.worker("count-up", path, "service", directory.path("witness"), "2", "25")
    }
    for worker in workers {
      let (status, output) = try worker.finish()
      #expect(status == 0)
      #expect(String(decoding: output, as: UTF8.self) == "100 calls\n", "a closure ran again")
    }
    #expect(try storage().password(for: key) == "400")
    #expect(
      try directory.names() == ["secrets", "secrets.key", "secrets.lock", "secrets.turns"])
  }

  @Test func `turns for different items don't wait for each other`() async throws {
    let storage = storage()
    let turn = try await storage.takeTurnWithoutBlocking(for: key, details: [], timeout: nil)
    #expect(try await storage[.first].update(turnTimeout: .zero) { _ in "own" } == "own")
    let kinds: [ItemKey] = [
      .value(service: "service", account: "account"),
      .credentials(service: "service", label: "account"), key.with(schema: "org.example.Other"),
    ]
    for other in kinds {
      let turn = try await storage.takeTurnWithoutBlocking(for: other, details: [], timeout: .zero)
      await turn.end()
    }
    await turn.end()
  }

  // MARK: - Holders that end, stop or hang

  @Test func `the turn of a killed process goes to the next one within a second`() async throws {
    let (storage, holder) = (storage(), try holder())
    let next = Task { try await storage[key].update { "\($0 ?? "nothing"), then next" } }
    await waitForThread(of: storage)
    let start = ContinuousClock.now
    try holder.end()
    #expect(try await next.value == "nothing, then next")
    #expect(start.duration(to: .now) < .seconds(1))
  }

  @Test func `the turn of a stopped process isn't passed, and the error names it`() async throws {
    let (storage, holder) = (storage(), try holder())
    holder.suspend()
    defer { holder.suspend(false) }
    let calls = Atomic(0)
    await expectError(
      .timedOut, says: "its turn to change this item: KeyringWorker, process \(holder.number)."
    ) {
      try await storage[key].update(turnTimeout: .milliseconds(300)) { _ in
        calls.add(1, ordering: .relaxed)
        return "passed"
      }
    }
    #expect(calls.load(ordering: .relaxed) == 0)
    holder.suspend(false)
    try holder.writeLine("holder's")
    #expect(try holder.readLine() == "stored")
    #expect(try await storage.password(for: key) == "holder's")
  }

  @Test func `the error of a turn of this process says so`() async throws {
    let (first, second) = (storage(), storage())
    try await first[key].update { old in
      for storage in [first, second] {
        let task = Task.detached { [key] in
          try await storage[key].update(turnTimeout: .milliseconds(100)) { _ in "passed" }
        }
        await expectError(.timedOut, says: "This process itself keeps its turn") {
          try await task.value
        }
      }
      return old
    }
  }

  /// The note that a process leaves when it's killed stays until the next turn.
  @Test func `a process that isn't the holder is never named`() async throws {
    let (storage, holder) = (storage(), try holder())
    let turns = storage.file.turns
    #expect(turns.holder(of: key) == holder.number)
    let note = try directory.bytes("secrets.turns")
    try holder.end()
    #expect(turns.holder(of: key) == nil)
    let turn = try await storage.takeTurnWithoutBlocking(for: key, details: [], timeout: nil)
    #expect(turns.holder(of: key) == getpid())
    let own = try directory.bytes("secrets.turns")
    // Another process has the number of the killed one.
    let number = UInt64(getpid()).bigEndianBytes
    let old = UInt64(holder.number).bigEndianBytes
    let place = try #require(note.firstRange(of: old)).lowerBound
    #expect(Array(own[place..<(place + 8)]) == number)
    try overwriteTurns(note.replacing(old, with: number))
    #expect(turns.holder(of: key) == nil)
    await expectError(.timedOut, says: "Another program keeps its turn", "one that can't be seen") {
      try await take(self.storage(), for: .milliseconds(50))
    }
    try overwriteTurns(own)
    #expect(turns.holder(of: key) == getpid())
    await turn.end()
    // The thread of the one that gave up gets the lock, and gives it back.
    #expect(await waitUntil { turns.holder(of: key) == nil })
  }

  private func overwriteTurns(_ bytes: [UInt8]) throws {
    try OpenFile(path + ".turns", O_WRONLY).write(bytes, at: 0)
  }

  @Test func `without a timeout, a wait takes half of that of the storage`() async throws {
    let (storage, other) = (storage(timeout: .seconds(1)), storage())
    let turn = try await other.takeTurnWithoutBlocking(for: key, details: [], timeout: nil)
    let start = ContinuousClock.now
    await expectError(.timedOut) {
      try await storage.takeTurnWithoutBlocking(for: key, details: [], timeout: nil)
    }
    #expect(start.duration(to: .now) >= .milliseconds(500))
    #expect(start.duration(to: .now) < .seconds(1))
    await turn.end()
  }

  // MARK: - Waiters

  @Test func `64 tasks that wait cost a thread`() throws {
    let (holder, waiters) = (try holder(), try Program.worker("queue", path, "service", "64"))
    #expect(try waiters.readLine() == "ready")
    try waiters.writeLine("begin")
    #expect(try waiters.readLine() == "begun")
    let lock = "swift-keyring l"
    #expect(try waitUntil { try waiters.threadNames().contains(lock) })
    let threads = try waiters.threadNames().filter { $0.hasPrefix("swift-keyring") }
    #expect(threads.count { $0 == lock } == 1)
    // The others end the waits in time, and try to lock the byte for the first one in the queue. A pool whose thread is
    // about to be free starts another one.
    #expect(threads.count <= 8, "\(threads)")
    try holder.writeLine("0")
    #expect(try waiters.readLine() == "done")
    #expect(try storage().password(for: key) == "64")
  }

  @Test func `a canceled waiter leaves, and nothing stays locked`() async throws {
    let (storage, holder) = (storage(), try holder())
    let first = Task { try await storage[key].update { _ in "canceled" } }
    await waitForThread(of: storage)
    first.cancel()
    await expectError(.canceled) { try await first.value }
    try holder.end()
    #expect(await waitUntil { !storage.file.turns.isWaiting(for: key) })
    try await take(self.storage(), for: .zero)
    #expect(try await storage.password(for: key) == nil)
  }

  /// The thread is still in the lock, with its own open file.
  @Test func `the next waiter takes the place of one that gave up`() async throws {
    let (storage, holder) = (storage(), try holder())
    let first = Task { try await take(storage) }
    await waitForThread(of: storage)
    first.cancel()
    await expectError(.canceled) { try await first.value }
    let next = Task { try await storage[key].update { _ in "next" } }
    // It has tried to lock the byte by itself first.
    #expect(try await waitUntil { try openTurnsFiles() == 1 })
    try holder.end()
    #expect(try await next.value == "next")
    #expect(try await waitUntil { try openTurnsFiles() == 0 })
  }

  /// Returns the number of open files of the turns, of which each lock and each thread has one.
  private func openTurnsFiles() throws -> Int {
    let files = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
    return files.count { ProcFile.link("/proc/self/fd/\($0)") == path + ".turns" }
  }

  // MARK: - Turns that are lost or refused

  @Test(arguments: ["removed", "replaced", "cut short"])
  func `a turn whose file is gone stores nothing`(how: String) async throws {
    let (storage, other) = (storage(), storage())
    try await storage.setPassword("old", for: key)
    await expectError(.turnLost, says: "The new value couldn't be stored") {
      try await storage[key].update { [path, key] _ in
        if how == "cut short" { truncate(path + ".turns", 0) } else { unlink(path + ".turns") }
        if how == "replaced" {
          let task = Task.detached { try await other[key].update { "\($0 ?? ""), other" } }
          _ = try await task.value
        }
        return "late"
      }
    }
    let expected = how == "replaced" ? "old, other" : "old"
    #expect(try await storage.password(for: key) == expected)
    #expect(try await storage[key].update { "\($0 ?? ""), new" } == expected + ", new")
  }

  @Test func `a turn that has ended reads and stores nothing`() async throws {
    let storage = storage()
    let turn = try await storage.takeTurnWithoutBlocking(for: key, details: .secret, timeout: nil)
    await turn.end()
    await expectError(.turnLost) { try await turn.item() }
    await expectError(.turnLost) {
      try await turn.save(SecureItem(key: key, secret: Secret("late")), replacing: nil)
    }
    #expect(try await storage.password(for: key) == nil)
  }

  @Test func `a waiter goes on with a new file after the removal of the old one`() async throws {
    let (storage, holder) = (storage(), try holder())
    let next = Task { try await storage[key].update { _ in "next" } }
    await waitForThread(of: storage)
    unlink(path + ".turns")
    try holder.end()
    #expect(try await next.value == "next")
    #expect(try directory.names().contains("secrets.turns"))
  }

  @Test func `a read-only directory refuses a turn, with a next step`() async throws {
    // The user who has no rights mustn't need a key file of root.
    func storage() -> EncryptedFileStorage { directory.storage(key: .cheap("right")) }
    try await storage()[key].update { _ in "kept" }
    for hasFile in [true, false] {
      if !hasFile { try directory.remove("secrets.turns") }
      try directory.withoutPrivileges { () throws in
        chmod(directory.path, 0o500)
        defer { chmod(directory.path, 0o700) }
        let error = #expect(throws: SecureStorageError.self) {
          try storage()[key].update { _ in
            Issue.record("the closure ran")
            return "lost"
          }
        }
        #expect(error?.code == .accessDenied)
        #expect(error?.operation == .takeTurn)
        #expect(error?.recoverySuggestion?.contains("access to the file") == true)
      }
    }
    #expect(try await storage().password(for: key) == "kept")
  }

  // MARK: - Other writers

  @Test func `an update can remove the item`() async throws {
    let storage = storage()
    try await storage.setPassword("old", for: key)
    #expect(try await storage[key].update { _ in nil } == nil)
    #expect(try await storage.password(for: key) == nil)
  }

  // MARK: - The file

  @Test func `the file of the turns has neither names nor secrets`() async throws {
    let storage = storage()
    try await storage[.first].update { _ in "s3cret" }
    let turn = try await storage.takeTurnWithoutBlocking(for: .first, details: [], timeout: nil)
    let text = String(decoding: try directory.bytes("secrets.turns"), as: UTF8.self)
    for name in ["org.example", "first", "s3cret", "password", "secrets"] {
      #expect(!text.contains(name))
    }
    await turn.end()
    #expect(try directory.mode("secrets.turns") == 0o600)
    #expect(try directory.bytes("secrets.turns").count <= 4096)
  }

  /// All users of the machine can see which bytes are locked.
  @Test func `the same item has another place in each file`() async throws {
    var places: Set<String> = []
    for name in ["one", "two"] {
      let storage = directory.storage(name)
      let turn = try await storage.takeTurnWithoutBlocking(for: key, details: [], timeout: nil)
      let inode = try #require(
        FileManager.default.attributesOfItem(atPath: directory.path("\(name).turns"))[
          .systemFileNumber] as? Int)
      let locks = try #require(ProcFile.text("/proc/locks")).split(separator: "\n")
        .filter { $0.contains("OFDLCK") && $0.contains(":\(inode) ") }
      #expect(locks.count == 1)
      places.formUnion(locks.compactMap { $0.split(separator: " ").last.map(String.init) })
      await turn.end()
    }
    #expect(places.count == 2)
  }

}
#endif
