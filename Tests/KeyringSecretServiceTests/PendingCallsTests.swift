// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Dispatch
import Foundation
import Keyring
import KeyringRuntime
import KeyringStorage
import Synchronization
import Testing

@testable import KeyringSecretService

/// Calls that wait for a keyring for a long time.
///
/// They wait for an event, which takes no thread.
@Suite(.withOwnKeyring) struct PendingCallsTests {
  private let bus: PrivateBus
  private let service: FakeService

  init() throws { (bus, service) = try PrivateBus.with { try FakeService(on: $0) } }

  private static let count = 10_000

  /// Starts reads of different keys.
  private func reads(
    of storage: some SecureStorage
  ) throws -> [Task<SecureStorageError.Code?, Never>] {
    try service.quiet()
    return (0..<Self.count).map { number in
      Task { () -> SecureStorageError.Code? in
        let key = ItemKey.password(service: "service", account: "\(number)")
        do throws(SecureStorageError) {
          _ = try await storage.password(for: key)
          return nil
        } catch {
          return error.code
        }
      }
    }
  }

  /// Starts reads of different keys, and returns when all of them are waiting.
  private func pendingReads(
    of storage: some SecureStorage
  ) async throws -> [Task<SecureStorageError.Code?, Never>] {
    let reads = try reads(of: storage)
    try #require(await waitUntil { ReadQueue.shared.reads.load(ordering: .relaxed) == Self.count })
    return reads
  }

  private func codes(
    of reads: [Task<SecureStorageError.Code?, Never>]
  ) async -> [SecureStorageError.Code?: Int] {
    var codes: [SecureStorageError.Code?: Int] = [:]
    for read in reads { codes[await read.value, default: 0] += 1 }
    return codes
  }

  /// Checks that the app's work elsewhere goes on.
  private func useSomethingElse() async throws {
    await withCheckedContinuation { continuation in
      DispatchQueue(label: "of the app").async { continuation.resume() }
    }
    let memory = InMemoryStorage()
    try await memory.setPassword("elsewhere", for: StorageUse.key)
    let elsewhere = try await memory.password(for: StorageUse.key)
    #expect(elsewhere == "elsewhere")
  }

  @Test(.tags(.slow)) func `ten thousand waiting reads take no threads`() async throws {
    let storage = bus.storage(serviceTimeout: .seconds(300))
    try await storage.setPassword("s3cret", for: StorageUse.key)
    // From here on, the process has the threads that every asynchronous program has.
    let first = try await storage.password(for: StorageUse.key)
    #expect(first == "s3cret")
    try service.fault("SearchItems", .mute)
    let before = try OwnProcess.threadCount()
    let reads = try await pendingReads(of: storage)
    #expect(try OwnProcess.threadCount() <= before + 4)
    try await useSomethingElse()
    let isLocked = try await storage.isLocked()
    #expect(!isLocked)

    for read in reads { read.cancel() }
    let ends = await codes(of: reads)
    #expect(ends == [.canceled: Self.count])
    try service.reset()
    let last = try await storage.password(for: StorageUse.key)
    #expect(last == "s3cret")
  }

  @Test(.tags(.slow)) func `each of ten thousand waiting reads ends by its deadline`() async throws
  {
    let storage = bus.storage(serviceTimeout: .seconds(5))
    try await storage.setPassword("s3cret", for: StorageUse.key)
    try service.fault("SearchItems", .mute)
    // On a busy machine, the first reads end before the last ones begin.
    let ends = await codes(of: try reads(of: storage))
    #expect(ends == [.timedOut: Self.count])
    try service.reset()
    let last = try await storage.password(for: StorageUse.key)
    #expect(last == "s3cret")
  }

  // With the sanitizer, the keyring's search for all items takes longer than the timeout.
  @Test(.tags(.slow, .unsanitized)) func `ten thousand waiting reads share one prompt`()
    async throws
  {
    // The keyring searches for all items before it shows the prompt. Each of its answers renews the deadline.
    let storage = bus.storage(serviceTimeout: .seconds(8))
    try await storage.setPassword("s3cret", for: StorageUse.key)
    try service.lock()
    try service.fault("Unlock", .prompt(.mute))
    let session = try openSession(at: bus.address)
    let before = try OwnProcess.threadCount()
    let reads = try await pendingReads(of: storage)
    try #require(await waitUntil { session.unlockings.withLock { $0.count } == 1 })
    // A prompt may be open for longer than the keyring may take to answer.
    let end = ContinuousClock.now + .seconds(9)
    try #require(await waitUntil { ContinuousClock.now > end })
    #expect(ReadQueue.shared.reads.load(ordering: .relaxed) == Self.count)
    #expect(session.unlockings.withLock { $0.count } == 1)
    #expect(try OwnProcess.threadCount() <= before + 4)
    try await useSomethingElse()
    for read in reads { read.cancel() }
    let ends = await codes(of: reads)
    #expect(ends == [.canceled: Self.count])
  }

  @Test func `a connection with too many unanswered messages is replaced and closed`() async throws
  {
    let storage = bus.storage(serviceTimeout: .seconds(1))
    try await bus.storage().setPassword("s3cret", for: StorageUse.key)
    let before = try bus.connectionCount()
    try service.fault("SearchItems", .mute)
    let keys = (0..<50).map { ItemKey.password(service: "service", account: "\($0)") }
    await expectError(.timedOut) { try await storage.items(for: keys, details: .all) }
    #expect(try await waitUntil { try bus.connectionCount() == before })
  }

  // MARK: - Together

  @Test(arguments: [true, false])
  func `reads wait for the two in progress, and travel in one batch`(equal: Bool) async throws {
    // An unknown provider is asked for the lock every two seconds, which is another wait.
    try service.takeName("org.gnome.keyring")
    let storage = bus.storage()
    let keys = (0..<100).map { ItemKey.password(service: "service", account: "\($0)") }
    for key in keys {
      try await storage.setPassword(key.attributes["username"], for: key)
      _ = try await storage.password(for: key)
    }
    let session = try openSession(at: bus.address)
    let start = session.connection.waits.load(ordering: .relaxed)
    try service.fault("SearchItems", .held)
    let reads = (0..<1000).map { number in
      let key = equal ? keys[7] : keys[number % 100]
      return Task { (key, try await storage.password(for: key)) }
    }
    try #require(await waitUntil { ReadQueue.shared.reads.load(ordering: .relaxed) == reads.count })
    try service.release()
    for read in reads {
      let (key, password) = try await read.value
      #expect(password == key.attributes["username"])
    }
    #expect(session.connection.waits.load(ordering: .relaxed) - start == 3)
  }

  /// A read may join other reads only before they are sent.
  @Test func `a read uses no answer to a question from before it began`() async throws {
    let storage = bus.storage()
    try await storage.setPassword("old", for: StorageUse.key)
    _ = try await storage.password(for: StorageUse.key)
    try service.fault("GetSecrets", .late(0.5))
    let early = (0..<2).map { _ in Task { try await storage.password(for: StorageUse.key) } }
    try #require(await waitUntil { ReadQueue.shared.reads.load(ordering: .relaxed) == 2 })
    try await service.waitForCall(of: "GetSecrets")
    try await storage.setPassword("new", for: StorageUse.key)
    let late = (0..<10).map { _ in Task { try await storage.password(for: StorageUse.key) } }
    for read in late {
      let password = try await read.value
      #expect(password == "new")
    }
    for read in early { _ = try await read.value }
  }

  /// Stores two items of another program that a key can't tell apart.
  private func storeTwice(_ key: ItemKey) throws {
    for number in 1...2 {
      try openSession(at: bus.address).createItem(
        key.attributes.merging(["comment": "\(number)"]) { $1 }, label: "Item \(number)",
        secret: "theirs")
    }
  }

  /// Reads each key and an ambiguous one at the same time, and expects that only the latter fails.
  private func expectOnlyAmbiguityFails(
    beside keys: [ItemKey], _ ambiguous: ItemKey, in storage: SecretServiceStorage
  ) async {
    let reads = keys.flatMap { [$0, ambiguous] }.map { key in
      Task { () -> Result<String?, SecureStorageError> in
        await Result { () async throws(SecureStorageError) in
          try await storage.password(for: key)
        }
      }
    }
    for (number, read) in reads.enumerated() {
      switch await read.value {
      case .success(let password): #expect(number % 2 == 0 && password == "s3cret")
      case .failure(let error): #expect(number % 2 == 1 && error.code == .ambiguous)
      }
    }
  }

  @Test(.tags(.slow)) func `an ambiguous item fails no other reads of its batch`() async throws {
    let storage = bus.storage()
    let ambiguous = ItemKey.password(service: "service", account: "ambiguous")
    try await storage.setPassword("s3cret", for: StorageUse.key)
    _ = try await storage.password(for: StorageUse.key)
    try storeTwice(ambiguous)
    try service.fault("SearchItems", .late(0.3))
    let keys = Array(repeating: StorageUse.key, count: 10)
    await expectOnlyAmbiguityFails(beside: keys, ambiguous, in: storage)
  }

  /// Another item failed the batch before the user was asked, so each read may unlock its own.
  @Test func `reads still unlock their own items after their batch fails`() async throws {
    let storage = bus.storage()
    let ambiguous = ItemKey.password(service: "service", account: "ambiguous")
    let keys = (0..<8).map { ItemKey.password(service: "service", account: "\($0)") }
    for key in keys { try await storage.setPassword("s3cret", for: key) }
    try storeTwice(ambiguous)
    try service.hide(.each)
    try service.lock()
    try service.fault("SearchItems", .late(0.1))
    // The first two reads travel alone.
    await expectOnlyAmbiguityFails(beside: keys, ambiguous, in: storage)
  }

  /// Synchronous calls need none of the threads that asynchronous calls run on, and vice versa.
  @Test(.tags(.slow)) func `synchronous calls end even if they block every thread`() async throws {
    let storage = bus.storage()
    let keys = (0..<200).map { ItemKey.password(service: "service", account: "\($0)") }
    for key in keys { try await storage.setPassword("s3cret", for: key) }
    try service.fault("SearchItems", .late(0.2))
    let waiting = keys.map { key in Task { try await storage.password(for: key) } }
    let blocking = keys.prefix(16).map { key in
      Task { try ({ () throws in try storage.password(for: key) })() }
    }
    for read in waiting + blocking {
      let password = try await read.value
      #expect(password == "s3cret")
    }
  }
}

#endif
