// SPDX-License-Identifier: Apache-2.0

#if EncryptedFile && os(Linux)
import Foundation
import Keyring
import KeyringRuntime
import KeyringStorage
import KeyringTesting
import Synchronization
import TestPrograms
import Testing

@testable import KeyringFile

/// Observations of a file that other storages change.
///
/// The contract covers the changes by the observed storage itself.
@Suite(.tags(.threads), .timeLimit(.minutes(1))) struct ObservationTests {
  private let directory = TemporaryDirectory()
  private let storage: EncryptedFileStorage

  init() { storage = directory.storage() }

  /// Returns the events of a storage, which is observed as long as the stream is there.
  private func events(of storage: EncryptedFileStorage) throws -> AsyncStream<StorageEvent> {
    let (stream, continuation) = AsyncStream<StorageEvent>.makeStream()
    let observation = try storage.observe(nil) { continuation.yield($0) }
    continuation.onTermination = { _ in observation.cancel() }
    return stream
  }

  /// Returns the same without the events that only say that something may have changed.
  private func changes(
    of storage: EncryptedFileStorage
  ) throws -> AsyncFilterSequence<AsyncStream<StorageEvent>> {
    try events(of: storage).filter { $0 != .mayHaveChanged(nil) }
  }

  @Test func `an observation goes on when the storage is released`() async throws {
    var iterator = try await directory.storage().changes().makeAsyncIterator()
    try await storage.setPassword("new", for: .first)
    #expect(await iterator.next() == .created(.first))
  }

  @Test func `the removal and the return of the file are reported`() async throws {
    try await storage.setPassword("kept", for: .first)
    let changes = try await storage.changes()
    var iterator = changes.makeAsyncIterator()
    try directory.rename("secrets", to: "elsewhere")
    #expect(await iterator.next() == .removed(.first))
    try directory.rename("elsewhere", to: "secrets")
    #expect(await iterator.next() == .created(.first))
  }

  @Test func `a directory that is made again is watched`() async throws {
    let deep = directory.storage("state/deep/secrets")
    #expect(mkdir(directory.path("state"), 0o700) == 0)
    try await deep.setPassword("old", for: .first)
    var iterator = try changes(of: deep).makeAsyncIterator()
    for gone in ["state/deep", "state", "state"] {
      if gone == "state" {
        try directory.remove(gone)
      } else {
        try directory.rename(gone, to: "elsewhere")
      }
      #expect(await iterator.next() == .changed(.removed(.first)))
      #expect(await iterator.next() == .interrupted)
      if gone == "state" { #expect(mkdir(directory.path(gone), 0o700) == 0) }
      try await directory.storage("state/deep/secrets").setPassword("new", for: .first)
      var event = await iterator.next()
      // The directory may be seen before the file is in it.
      if event == .resumed {
        event = await iterator.next()
      } else {
        #expect(await iterator.next() == .resumed)
      }
      #expect(event == .changed(.created(.first)))
    }
  }

  @Test func `damage interrupts the observation until the repair`() async throws {
    try await storage.setPassword("kept", for: .first)
    var iterator = try changes(of: storage).makeAsyncIterator()
    let whole = try directory.bytes("secrets")
    try directory.write(Array(whole.dropLast()), "secrets")
    #expect(await iterator.next() == .interrupted)
    try directory.write(whole, "secrets")
    #expect(await iterator.next() == .resumed)
    try await directory.storage().setPassword("new", for: .second)
    #expect(await iterator.next() == .changed(.created(.second)))
  }

  /// A cache needs to be notified before it's known what has changed.
  @Test func `a possible change is reported before the change`() async throws {
    var iterator = try events(of: storage).makeAsyncIterator()
    try await directory.storage().setPassword("new", for: .first)
    #expect(await iterator.next() == .mayHaveChanged(nil))
    #expect(await iterator.next() == .changed(.created(.first)))
  }

  @Test func `an observation with a wrong key is an error`() throws {
    try storage.setPassword("s3cret", for: .first)
    let wrong = directory.storage(key: .cheap("wrong"))
    let error = expectError(.wrongKey) { try wrong.observe(nil) { _ in } }
    #expect(error?.operation == .observe)
  }

  /// The next operation that needs the items asks for it.
  @Test func `an observation does not ask for a new key`() async throws {
    let other = directory.storage(key: .cheap("old"))
    try await other.setPassword("kept", for: .first)
    let answers = Mutex(["newest", "new", "old"])
    let storage = directory.storage(
      key: .passphrase(cost: .standard) { _ throws(SecureStorageError) in
        Secret(answers.withLock { $0.popLast() } ?? "wrong")
      })
    do {
      var iterator = try changes(of: storage).makeAsyncIterator()
      try await other.changeKey(to: .cheap("new"))
      #expect(await iterator.next() == .interrupted)
      try await other.setPassword("new", for: .second)
      #expect(answers.withLock { $0 } == ["newest", "new"])
      #expect(try await storage.password(for: .second) == "new")
      #expect(await iterator.next() == .changed(.created(.second)))
      #expect(await iterator.next() == .resumed)
      try await other.changeKey(to: .cheap("newest"))
      #expect(await iterator.next() == .interrupted)
    }
    // An observer that comes later isn't notified of an interruption that another one was notified of.
    var iterator = try changes(of: storage).makeAsyncIterator()
    #expect(answers.withLock { $0 } == [])
    try await other.setPassword("later", for: .first)
    #expect(await iterator.next() == .changed(.replaced(.first)))
    try await other.removeItems(matching: .key(.second))
    #expect(await iterator.next() == .changed(.removed(.second)))
  }

  @Test func `an observation does not unlock the storage of the key`() async throws {
    let keyring = FaultyStorage()
    let storage = directory.storage(key: .storage(keyring, key: .second))
    var iterator = try changes(of: storage).makeAsyncIterator()
    let other = EncryptedFileStorage(at: storage.path, key: .storage(keyring, key: .second))
    try await other.setPassword("s3cret", for: .first)
    #expect(await iterator.next() == .changed(.created(.first)))
    #expect(keyring.calls.last?.query?.allowsUnlocking == false)
  }

  /// The watching thread is in the observer's closure while another one reads the change.
  @Test func `an observer is called by one thread at a time`() throws {
    let (isCalled, isCalledTwice) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let result = Mutex(DispatchTimeoutResult.success)
    let hasReturned = DispatchSemaphore(value: 0)
    let observation = try storage.observe(nil) { event in
      guard event == .mayHaveChanged(nil) else {
        isCalledTwice.signal()
        return
      }
      isCalled.signal()
      result.withLock { $0 = isCalledTwice.wait(timeout: .now() + .milliseconds(300)) }
      hasReturned.signal()
    }
    try directory.storage().setPassword("new", for: .first)
    try #require(isCalled.wait(timeout: .now() + 30) == .success)
    #expect(try storage.password(for: .first) == "new")
    try #require(hasReturned.wait(timeout: .now() + 30) == .success)
    #expect(result.withLock { $0 } == .timedOut)
    observation.cancel()
  }

  @Test func `other files in the directory cause no events`() throws {
    let watch = try DirectoryWatch(
      Directory(of: directory.path("secrets")), for: directory.path("secrets"))
    for name in ["secret", "secrets.lock", "secrets2"] { try directory.write([1], name) }
    #expect(!watch.takeEvents())
    for name in ["secrets", "other"] { try directory.write([1], name) }
    #expect(watch.takeEvents())
    #expect(!watch.takeEvents())
  }

  /// The system reports neither a new time, nor changes in place before the file is closed.
  @Test func `a watcher that looks at the file sees what the system doesn't report`() throws {
    try directory.write([1], "secrets")
    let path = directory.path("secrets")
    let isSeen = DispatchSemaphore(value: 0)
    let watcher = try FileWatcher(path, every: .milliseconds(50)) { _ in isSeen.signal() }
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSince1970: 1)], ofItemAtPath: path)
    #expect(isSeen.wait(timeout: .now() + 30) == .success)
    withExtendedLifetime(watcher) {}
  }

  @Test func `a watcher doesn't look while nobody needs it`() throws {
    let isNeeded = Atomic(true)
    let (looks, ticks) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let questions = Atomic(0)
    let watcher = try FileWatcher(
      directory: directory.path, every: { .milliseconds(5) },
      while: {
        questions.add(1, ordering: .relaxed)
        return isNeeded.load(ordering: .relaxed)
      }, { _ in looks.signal() })
    let clock = try FileWatcher(
      directory: directory.path, every: { .milliseconds(5) }, while: { true },
      { _ in ticks.signal() })
    #expect(looks.wait(timeout: .now() + 30) == .success)
    isNeeded.store(false, ordering: .relaxed)
    let isQuiet = try waitUntil {
      let before = questions.load(ordering: .relaxed)
      for _ in 0..<20 { try #require(ticks.wait(timeout: .now() + 30) == .success) }
      return questions.load(ordering: .relaxed) == before
    }
    #expect(isQuiet)
    isNeeded.store(true, ordering: .relaxed)
    while looks.wait(timeout: .now()) == .success {}
    watcher.renew()
    for _ in 0..<2 { #expect(looks.wait(timeout: .now() + 30) == .success) }
    withExtendedLifetime((watcher, clock)) {}
  }

  @Test func `a watcher follows a link that leads to another directory`() throws {
    let names = ["first", "second"]
    for name in names {
      try FileManager.default.createDirectory(
        atPath: directory.path(name), withIntermediateDirectories: false)
      try directory.write([1], "\(name)/secrets")
    }
    let link = directory.path("link")
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: names[0])
    let isSeen = DispatchSemaphore(value: 0)
    let watcher = try FileWatcher(link + "/secrets", every: .milliseconds(50)) { _ in
      isSeen.signal()
    }
    #expect(rename(try newLink(to: names[1]), link) == 0)
    #expect(isSeen.wait(timeout: .now() + 30) == .success)
    withExtendedLifetime(watcher) {}
  }

  private func newLink(to name: String) throws -> String {
    let path = directory.path("new link")
    try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: name)
    return path
  }

  @Test func `a cache of a file has a lifetime where changes go unnoticed`() throws {
    #expect(storage.cacheLifetime == nil)
    #expect(Directory(of: directory.path("missing/directory/secrets")).reportsChanges)
    // No file can be stored here.
    let elsewhere = EncryptedFileStorage(at: "/proc/secrets", key: .keyFile(at: "/proc/key"))
    #expect(elsewhere.cacheLifetime == .seconds(60))
  }

  /// The system allows 128 watchers for each user.
  @Test func `one watcher is enough for a storage`() throws {
    for _ in 0..<200 { _ = try storage.observe(nil) { _ in } }
    // Other tests watch at the same time.
    #expect(try Watches.count() < 50)
  }
}
#endif
