// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Keyring
import KeyringStorage
import KeyringTesting
import TestPrograms
import Testing

/// Observers that wait, of storages that use others.
@Suite(.timeLimit(.minutes(1)), .tags(.threads)) struct WaitingObserverTests {
  private static let storages: [any ObservableStorage] = [
    InMemoryStorage(), NamedStorage("forward"), InMemoryStorage().cached(),
    LayeredStorage([.reading(InMemoryStorage()), .writing(InMemoryStorage())]),
    FirstAvailableStorage([InMemoryStorage()], remembering: .nowhere),
    FirstAvailableStorage(
      [LayeredStorage([.writing(InMemoryStorage())]).cached()], remembering: .nowhere
    ).cached(),
  ]
  private let key = ItemKey.password(service: "service", account: "account")

  @Test(arguments: storages.indices)
  func `nobody waits for an observer`(index: Int) throws {
    try StorageContract.nobodyWaitsForObservers.verify(Self.storages[index])
  }

  @Test func `an observer that waits for the main thread hinders no writer there`() async {
    await #expect(processExitsWith: .success) {
      for storage in WaitingObserverTests.storages {
        let key = ItemKey.password(service: "service", account: "account")
        let log = EventLog()
        let observation = try await storage.observeWithoutBlocking(nil) { event in
          DispatchQueue.main.sync { log.append(event) }
        }
        try await MainActor.run {
          try storage.setPassword("first", for: key)
          DispatchQueue.concurrentPerform(iterations: 4) { thread in
            #expect(throws: Never.self) {
              for number in 0..<100 { try storage.setPassword("\(thread) \(number)", for: key) }
            }
          }
          try storage.setPassword("last", for: key)
          #expect(log.count == 0)
        }
        #expect(await waitUntil { log.count > 400 })
        #expect(log.changes.first == .created(key))
        observation.cancel()
      }
    }
  }

  /// The caches share a storage whose observer waits for as long as the test takes.
  @Test func `a cache knows of a write when it returns, although an observer waits`() throws {
    let base = InMemoryStorage()
    let forward = NamedStorage("forward")
    let gate = DispatchSemaphore(value: 0)
    let pairs: [(any ObservableStorage, any SecureStorage)] = [
      (base, base.cached()), (base, LayeredStorage([.writing(base)]).cached()),
      (base, FirstAvailableStorage([base], remembering: .nowhere).cached()),
      (base, base.cached().cached()), (forward, FaultyStorage(forward).cached()),
    ]
    let observations = try pairs.flatMap { storage, cached in
      try [storage, cached as? any ObservableStorage].compactMap {
        try $0?.observe(nil) { _ in gate.wait() }
      }
    }
    for (storage, cached) in pairs {
      for number in 0..<200 {
        try storage.setPassword("\(number)", for: key)
        #expect(try cached.password(for: key) == "\(number)")
      }
      try storage.remove(key)
      #expect(try cached.password(for: key) == nil)
    }
    for observation in observations { observation.cancel() }
    for _ in observations { gate.signal() }
  }

  @Test func `a stream has all changes, although an observer waits`() async throws {
    let base = InMemoryStorage()
    let gate = DispatchSemaphore(value: 0)
    let observation = base.observe(nil) { _ in gate.wait() }
    var changes = try await base.cached().changes().makeAsyncIterator()
    try await base.setPassword("s3cret", for: key)
    #expect(await changes.next() == .created(key))
    try await base.remove(key)
    #expect(await changes.next() == .removed(key))
    observation.cancel()
    gate.signal()
  }
}
