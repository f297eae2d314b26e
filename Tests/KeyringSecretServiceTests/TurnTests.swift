// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Foundation
import Keyring
import KeyringStorage
import Synchronization
import TestPrograms
import Testing

@testable import KeyringSecretService

/// Turns to change an item of the keyring, among the programs on a bus.
@Suite(.withOwnKeyring) struct TurnTests {
  private let bus: PrivateBus
  private let keyring: GnomeKeyring
  private let storage: SecretServiceStorage
  private let key = ItemKey.password(service: "service", account: "account")

  init() throws {
    (bus, keyring) = try PrivateBus.with { try GnomeKeyring(on: $0) }
    storage = bus.storage()
    try storage.setPassword("1", for: key)
  }

  private var password: StoredValue<String> { storage[key] }

  /// Starts another program, and returns when it has its turn.
  private func holder() throws -> Program {
    let program = try Program(
      Program.workerPath, ["keep-turn", "default", "service", "60"], environment: bus.environment)
    #expect(try program.readLine() == "has 1")
    return program
  }

  @Test func `the next program gets what the last one has stored`() throws {
    let holder = try holder()
    let next = try Program(
      Program.workerPath, ["keep-turn", "default", "service", "60"], environment: bus.environment)
    try waitForQueue(of: 2)
    try holder.writeLine("2")
    #expect(try holder.readLine() == "stored")
    #expect(try next.readLine() == "has 2")
    try next.writeLine("3")
    #expect(try next.readLine() == "stored")
    #expect(try password.read() == "3")
  }

  @Test func `a program that is killed lets the next one go on with the old value`() async throws {
    let holder = try holder()
    let password = password
    async let update = password.update { old in old.map { $0 + "+" } }
    try waitForQueue(of: 2)
    let start = ContinuousClock.now
    _ = try holder.end()
    #expect(try await update == "1+")
    #expect(start.duration(to: .now) < .seconds(1))
  }

  @Test func `a program that is stopped is not passed, and named`() throws {
    let holder = try holder()
    holder.suspend()
    defer { holder.suspend(false) }
    expectError(
      .timedOut, says: "keeps its turn to change this item: KeyringWorker, process ",
      "End that program"
    ) { try password.update(turnTimeout: .milliseconds(300)) { _ in "2" } }
    // It has left the queue.
    try waitForQueue(of: 1)
    // A plain write takes no turn, and an addition goes on.
    try password.write("written")
    #expect(try password.read() == "written")
    let quick = bus.storage(serviceTimeout: .seconds(2))
    #expect(try quick.remove(key))
    try quick.setPassword("added", for: key, mode: .add)
    #expect(try password.read() == "added")
  }

  @Test func `an update that meets a stopped program's write runs again`() throws {
    var seen: [String?] = []
    let result = try password.update { old in
      seen.append(old)
      if seen.count < 3 { try storage.setPassword("\(old ?? "")+", for: key) }
      return "\(old ?? "") updated"
    }
    #expect(seen == ["1", "1+", "1++"] && result == "1++ updated")
    #expect(try password.read() == result)
    let removed = try password.update { _ in
      try storage.remove(key)
      return "again"
    }
    #expect(try removed == nil && password.read() == nil)
  }

  @Test func `a keyring that restarts does not end a turn`() throws {
    try password.update { old in
      try keyring.end()
      try keyring.start()
      return "2"
    }
    #expect(try password.read() == "2")
    try expectFreeTurn()
  }

  @Test func `a bus that ends takes the turn with it`() async throws {
    await #expect {
      try await password.update { old in
        try bus.kill()
        // The task of the closure is cancelled.
        try await Task.sleep(for: .seconds(60))
        return "2"
      }
    } throws: { $0 is CancellationError }
  }

  @Test func `an update whose bus has ended meanwhile stores nothing`() throws {
    let error = expectError(.turnLost, says: "is lost", "The message bus ended") {
      try password.update { _ in
        try bus.kill()
        try bus.start()
        try keyring.kill()
        try keyring.start()
        return "2"
      }
    }
    #expect(error != nil)
    #expect(try password.read() == "1")
  }

  @Test func `64 waiting tasks cost no thread each`() async throws {
    let holder = try holder()
    let before = try OwnProcess.threadCount()
    let tasks = (0..<64).map { [password] _ in
      Task { try await password.refresh(if: { $0 == "1" }) { _ in "2" } }
    }
    try waitForQueue(of: 2)
    #expect(try OwnProcess.threadCount() <= before + 8)
    let canceled = Task { [password] in try await password.update { _ in "never" } }
    canceled.cancel()
    await #expect(throws: SecureStorageError.self) { try await canceled.value }
    try holder.writeLine("3")
    for task in tasks { #expect(try await task.value == "3") }
    try expectFreeTurn()
  }

  @Test(.withSandbox) func `a sandbox has turns of its own, which a program joins`() throws {
    let app = try SandboxedApp(on: bus)
    try app.allow("org.freedesktop.secrets", on: bus)
    let refused = try app.startWorker("keep-turn", "default", "service", "1")
    #expect(try refused.readLine().hasPrefix("error accessDenied"))
    try app.allow(
      "org.freedesktop.secrets", owning: ["org.example.App", "org.example.App.*"], on: bus)
    let holder = try app.startWorker("keep-turn", "default", "service", "60")
    #expect(try holder.readLine() == "has 1")
    var options = storage.options
    options.turnNamespace = "org.example.App"
    let joined = SecretServiceStorage(options: options)[key]
    #expect(throws: SecureStorageError.self) {
      try joined.update(turnTimeout: .milliseconds(200)) { _ in "2" }
    }
    options.turnNamespace = "org.example"
    try SecretServiceStorage(options: options)[key].update { _ in "1" }
    options.turnNamespace = "not a name"
    #expect(throws: SecureStorageError.self) {
      try SecretServiceStorage(options: options)[key].update { _ in "2" }
    }
    try holder.writeLine("3")
    #expect(try holder.readLine() == "stored")
    #expect(try joined.read() == "3")
  }

  /// The name, which all programs and versions share, stays as it is.
  @Test func `the name of a turn depends on the kind and the parts`() {
    let keys: [ItemKey] = [
      key, .credentials(service: "service", label: "account"),
      .password(service: "servic", account: "eaccount"),
    ]
    let names = keys.map { MethodCall.nameOfTurn(under: $0, in: "org.swift_keyring") }
    #expect(Set(names).count == 3)
    #expect(names[0] == "org.swift_keyring.Turn.k2o2ebrelua5o6")
  }

  // MARK: - The queue of the bus

  /// Waits until so many programs are in the queue, with the one whose turn it is.
  private func waitForQueue(of count: Int) throws {
    let name = MethodCall.nameOfTurn(under: key, in: "org.swift_keyring")
    let isThere = waitUntil {
      let list = try? bus.call("org.freedesktop.DBus.ListQueuedOwners", [name])
      return (list ?? nil)?.count(where: { $0 == ":" }) == count
    }
    try #require(isThere)
  }

  private func expectFreeTurn() throws {
    let name = MethodCall.nameOfTurn(under: key, in: "org.swift_keyring")
    let isFree = waitUntil {
      (try? bus.call("org.freedesktop.DBus.GetNameOwner", [name])) == .some(nil)
    }
    #expect(isFree)
  }
}

#endif
