// SPDX-License-Identifier: Apache-2.0

#if Etcd && os(Linux)
import Keyring
import KeyringRuntime
import KeyringStorage
import Synchronization
import TestPrograms
import Testing

@testable import KeyringEtcd

/// Changes of a namespace's keys while a program watches its items.
@Suite(.serialized, .timeLimit(.minutes(3))) struct KeyChangeTests {
  /// A source of a key, which a test can make wait.
  private final class Vault: Sendable {
    private let gate = Mutex<SharedOutcome<Void>?>(nil)

    var source: KeySource {
      KeySource(named: "vault") { _ async throws(SecureStorageError) in
        let gate = self.gate.withLock { $0 }
        // This source doesn't notice that its caller is cancelled.
        _ = await Task.detached { await gate?.wait(until: nil) }.value
        return Secret(bytes: [UInt8](repeating: 7, count: 32))
      }
    }

    func close() { gate.withLock { $0 = SharedOutcome() } }
    func open() {
      gate.withLock { gate in
        gate?.settle(())
        gate = nil
      }
    }
  }

  private let cluster: Cluster
  private let vault = Vault()
  /// The storage of the operator, whose source never waits.
  private let other: EtcdStorage
  private let key = ItemKey.password(service: "service", account: "account")

  init() async throws {
    cluster = try Cluster.shared.get()
    other = cluster.storage("test-\(UInt64.random(in: .min ... .max))", key: Vault().source)
    try await other.createNamespace()
  }

  private func storage(timeout: Duration = .seconds(20)) -> EtcdStorage {
    cluster.storage(other.fleet.settings.namespace, key: vault.source, timeout: timeout)
  }

  @Test func `a source that doesn't answer interrupts the watch`() async throws {
    try await other.setPassword("first", for: key)
    let cached = storage().cached()
    #expect(try await cached.password(for: key) == "first")
    let events = try await EventLog(of: cached)
    vault.close()
    try await other.rewrapKeys(with: Vault().source)
    try await other.rotateDataKey()
    try await other.setPassword("second", for: key)
    events.wait(for: .interrupted)
    vault.open()
    events.wait(for: .resumed)
    #expect(try await cached.password(for: key) == "second")
  }

  @Test func `a new observation doesn't wait for a source without a limit`() async throws {
    let storage = storage(timeout: .seconds(2))
    let events = EventLog()
    let subscription = try await storage.observeWithoutBlocking(nil, events.append)
    vault.close()
    try await other.rewrapKeys(with: Vault().source)
    try await other.rotateDataKey()
    events.wait(for: .interrupted)
    subscription.cancel()
    await expect(.timedOut, within: .seconds(2)) {
      try await storage.observeWithoutBlocking(nil) { _ in }
    }
    let task = Task { try await storage.observeWithoutBlocking(nil) { _ in } }
    task.cancel()
    await expect(.canceled, within: .seconds(1)) { try await task.value }
    vault.open()
    while true {
      guard let last = try? await storage.observeWithoutBlocking(nil, { _ in }) else { continue }
      last.cancel()
      break
    }
  }

  @Test func `a program that only watches learns of other keys`() async throws {
    let storage = storage()
    let subscription = try await storage.observeWithoutBlocking(nil) { _ in }
    try await other.rotateDataKey()
    let keys = try #require(other.fleet.keys.current)
    #expect(await waitUntil { storage.fleet.keys.current?.conditions == keys.conditions })
    subscription.cancel()
  }

  /// A thief who is the cluster's operator, too, has the old data key.
  @Test func `a value in an event that needs a removed data key isn't used`() async throws {
    try await other.setPassword("first", for: key)
    let storage = storage()
    let cached = storage.cached()
    #expect(try await cached.password(for: key) == "first")
    let events = try await EventLog(of: cached)
    let old = try #require(other.fleet.keys.current)
    for change in try await old.addingDataKey(vault.source, other.fleet.keys.request(.opening)) {
      try await cluster.put(change.key, try #require(change.value))
    }
    try await other.setPassword("second", for: key)
    events.wait(for: .changed(.replaced(key)))
    // The process has both keys, and the old one is removed.
    #expect(try await cached.password(for: key) == "second")
    let both = try #require(other.fleet.keys.current)
    #expect(storage.fleet.keys.current?.conditions == both.conditions)
    for change in both.removingOlderDataKeys {
      if let value = change.value {
        try await cluster.put(change.key, value)
      } else {
        try await cluster.remove(change.key)
      }
    }
    let place = old.names.item(key)
    let forged = FleetItem.forged(key, "forged")
    try await cluster.put(place, try old.seal(forged, place))
    events.wait(for: .changed(.replaced(key)))
    await expect(.damaged) { try await cached.password(for: key) }
  }

  /// The event arrives before the program learns that the key was removed.
  @Test func `an item that needs a removed data key doesn't stay in a cache`() async throws {
    let second = ItemKey.password(service: "service", account: "second")
    let storage = storage()
    let cached = storage.cached()
    #expect(try await cached.password(for: key) == nil)
    let events = try await EventLog(of: cached)
    #expect(try await other.password(for: second) == nil)
    let old = try #require(other.fleet.keys.current)
    try await other.rotateDataKey()
    let forged = FleetItem.forged(key, "forged")
    try await cluster.put(old.names.item(key), try old.seal(forged, old.names.item(key)))
    events.wait(for: .changed(.created(key)))
    _ = try? await cached.password(for: key)
    // This read learns of the other key. The program knows it before it asks whether the node still answers.
    #expect(try await storage.password(for: second) == nil)
    let isRefused = try await waitUntil {
      do {
        return try cached.password(for: key) == nil
      } catch .damaged {
        return true
      } catch {
        throw error
      }
    }
    #expect(isRefused)
  }
}
#endif
