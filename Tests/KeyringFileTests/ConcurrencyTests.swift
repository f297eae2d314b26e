// SPDX-License-Identifier: Apache-2.0

#if EncryptedFile && os(Linux)
import Foundation
import Keyring
import KeyringRuntime
import KeyringSealing
import KeyringStorage
import Synchronization
import TestPrograms
import Testing

@testable import KeyringFile

/// Many threads and several processes on one file.
@Suite(.tags(.threads)) struct ConcurrencyTests {
  private let directory = TemporaryDirectory()
  private var path: String { directory.path("secrets") }
  private var storage: EncryptedFileStorage {
    EncryptedFileStorage(at: path, key: .keyFile(at: path + ".key"))
  }

  /// They also create the file, its key, and its lock at the same time.
  @Test(arguments: [(1, 8), (4, 2)])
  func `processes and threads lose no acknowledged write`(processes: Int, threads: Int) throws {
    let workers = try (0..<processes).map {
      try Program.worker("mix", path, "service", "worker \($0)", "\(threads)", "250")
    }
    let histories = try LinearizabilityLog.read(workers)
    let items = try storage.items(matching: .service("service", details: .secret))
    let values = LinearizabilityLog.values(of: items)
    #expect(Set(values.keys).isSubset(of: histories.keys))
    for (key, history) in histories {
      let violations = history.violations(last: values[key] ?? nil)
      #expect(violations.isEmpty, "\(key) of \(histories.count) keys")
    }
  }

  /// They also create the file, its key, and its lock at the same time.
  @Test func `sixteen programs that start at once use one key`() throws {
    let used = Set(try FirstStarts.run(16, in: path, service: "service"))
    let key = try storage.password(for: .password(service: "service", account: "key"))
    let account = try storage[.credentials(service: "service", label: "account"), as: .credential]
      .read()
    #expect(used.count == 1)
    #expect(used.first?.hasPrefix("\(key ?? "") \(account?.login ?? "")/") == true)
  }

  @Test func `sixteen programs move an item to another name`() throws {
    try storage.setPassword("s3cret", for: .password(service: "service", account: "old"))
    #expect(Set(try FirstStarts.move(16, in: path, service: "service")) == ["s3cret\n"])
    #expect(try storage.items(matching: .service("service")).map(\.key.account) == ["new"])
  }

  @Test func `a write that waits too long for another writer times out`() throws {
    let storage = EncryptedFileStorage(
      at: path, key: .keyFile(at: path + ".key"), timeout: .milliseconds(50))
    try storage.setPassword("kept", for: .first)
    let lock = try #require(try FileLocation(path).lock())
    #expect(try code { try storage.setPassword("late", for: .first) } == .timedOut)
    // Reads, and changes that have no effect, don't wait.
    #expect(try storage.password(for: .first) == "kept")
    #expect(try !storage.remove(.second))
    withExtendedLifetime(lock) {}
  }

  private static let key = Secret(bytes: [UInt8](repeating: 7, count: 32))
  private static let plain = KeySource(named: "other") { _ async throws(SecureStorageError) in key }

  /// Another writer, who isn't asked, and soon gives up.
  private func otherWriter() -> EncryptedFileStorage {
    directory.storage(key: Self.plain, timeout: .milliseconds(200))
  }

  @Test func `a user who is asked for the key doesn't keep other writers waiting`() throws {
    let (other, asked) = (otherWriter(), RequestLog())
    let storage = directory.storage(
      key: asked.source(Self.key) { (purpose, _) async throws(SecureStorageError) in
        // First, the other writer creates the file, which then has another data key.
        try await other.setPassword("other's", for: purpose == .creation ? .first : .second)
      })
    let third = ItemKey.password(service: "org.example.app", account: "third")
    try storage.setPassword("own", for: third)
    #expect(asked.all == [.creation, .opening])
    #expect(try other.password(for: .second) == "other's")
    #expect(try other.password(for: third) == "own")
  }

  @Test func `a user who is asked because the file vanished keeps no writers waiting`() throws {
    let (other, asked, path) = (otherWriter(), RequestLog(), path)
    try other.setPassword("gone", for: .first)
    let storage = directory.storage(
      key: asked.source(Self.key) { (_, number) async throws(SecureStorageError) in
        // The file vanishes after it was read. Then the other writer creates it again.
        if number == 1 { unlink(path) }
        if number == 2 { try await other.setPassword("other's", for: .second) }
      })
    try storage.setPassword("own", for: .first)
    #expect(asked.all == [.opening, .creation])
    #expect(try other.password(for: .first) == "own")
    #expect(try other.password(for: .second) == "other's")
  }

  /// A question may need the main actor and other blocking storages, each of which asks in turn.
  @Test(.timeLimit(.minutes(1)))
  func `questions that read other files end`() async throws {
    func storage(
      _ name: String, _ ask: @escaping @Sendable () async throws(SecureStorageError) -> Void
    ) throws -> EncryptedFileStorage {
      try directory.storage(name, key: .cheap("right")).setPassword(name, for: .first)
      let key = KeySource.passphrase(cost: .cheap) { _ async throws(SecureStorageError) in
        asked.withLock { $0.append(name) }
        try await ask()
        return Secret("right")
      }
      return directory.storage(name, key: key)
    }
    let asked = Mutex<[String]>([])
    let third = try storage("C") { () async throws(SecureStorageError) in
      await MainActor.run {}
    }
    let second = try storage("B") { () async throws(SecureStorageError) in
      _ = try await third.password(for: .first)
    }
    let first = try storage("A") { () async throws(SecureStorageError) in
      _ = try await second.password(for: .first)
    }
    let storages = [first, second, third]
    let found = try await withThrowingTaskGroup(of: String?.self) { group in
      for number in 0..<500 {
        group.addTask { try await storages[number % 3].password(for: .first) }
      }
      return try await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
    }
    #expect(found == ["A": 167, "B": 167, "C": 166])
    #expect(asked.withLock { $0.sorted() } == ["A", "B", "C"], "each file is asked for once")
  }

  /// While a user is asked, neither other files nor other storages wait.
  @Test(.timeLimit(.minutes(1)))
  func `reads that wait for an answer block no thread of the others`() async throws {
    let other = storage
    try await other.setPassword("other's", for: .first)
    try await directory.storage("asking", key: .cheap("right")).setPassword("found", for: .first)
    let answer = SharedOutcome<Void>()
    let asking = directory.storage(
      "asking",
      key: .passphrase(cost: .cheap) { _ async throws(SecureStorageError) in
        _ = await answer.wait(until: nil)
        return Secret("right")
      })
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<200 {
        group.addTask {
          let found = try await asking.password(for: .first)
          #expect(found == "found")
        }
      }
      group.addTask {
        let diagnosis = try await asking.diagnose(writing: true)
        #expect(diagnosis.failure == nil)
      }
      group.addTask { try await asking.changeKey(to: .cheap("new")) }
      for _ in 0..<200 {
        let found = try await other.password(for: .first)
        #expect(found == "other's")
      }
      answer.settle(())
      try await group.waitForAll()
    }
  }

  @Test func `a user who changes the key doesn't keep other writers waiting`() throws {
    let (other, asked) = (otherWriter(), RequestLog())
    try other.setPassword("kept", for: .first)
    let storage = directory.storage(
      key: asked.source(Self.key) { (_, number) async throws(SecureStorageError) in
        // The last question is about the data key that the other writer has made in the meantime.
        if number == 3 { try await other.setPassword("other's", for: .second) }
      })
    let newKey = Secret(bytes: [UInt8](repeating: 8, count: 32))
    try storage.changeKey(
      to: asked.source(newKey) { (purpose, _) async throws(SecureStorageError) in
        if purpose == .creation { try await other.changeKey(to: Self.plain) }
      })
    #expect(asked.all == [.opening, .creation, .opening])
    #expect(try storage.password(for: .first) == "kept")
    #expect(try storage.password(for: .second) == "other's")
    #expect(try code { _ = try other.password(for: .second) } == .wrongKey)
  }

  /// The removal of the lock lets a second writer in.
  ///
  /// The first writer then begins again.
  @Test func `a writer whose lock was removed loses nothing`() throws {
    let (storage, other) = (storage, storage)
    try storage.setPassword("kept", for: .first)
    var calls = 0
    try storage.file.change(.save) { (content) throws(SecureStorageError) in
      calls += 1
      // The first call is made without the lock. In the second, the other storage finds no lock.
      if calls == 2 {
        unlink(path + ".lock")
        try other.setPassword("other's", for: .second)
      }
      _ = content.removeItems(matching: .key(.first))
    }
    #expect(calls == 3)
    #expect(try storage.password(for: .first) == nil)
    #expect(try storage.password(for: .second) == "other's")
  }

  /// NFS finds out which file is at a path only when the path is opened.
  ///
  /// After the replacement, a program that takes no lock may have put another file at the path. The
  /// storage would take that file for the one it wrote.
  @Test func `the file is opened before it is replaced, and not afterwards`() throws {
    let storage = storage
    try storage.setPassword("old", for: .first)
    let events = try FileEvents(UInt32(IN_OPEN | IN_MOVED_TO), of: directory.path)
    #expect(try storage.password(for: .first) == "old")
    #expect(!events.take().contains { $0.name == "secrets" }, "a read only checks for a new file")
    try storage.setPassword("new", for: .first)
    let masks = events.take().filter { $0.name == "secrets" }.map { $0.mask }
    #expect(masks == [UInt32(IN_OPEN), UInt32(IN_MOVED_TO)])
  }

  /// Both writers use the same name until one of them notices the other.
  @Test func `the unfinished file of another writer stays`() throws {
    let place = FileLocation(path)
    let lock = try #require(try place.lock())
    let unfinished = directory.path(".secrets.new")
    try [UInt8](repeating: 1, count: 8).withUnsafeBytes { bytes in
      let first = try FileReplacement(of: path, through: unfinished, with: bytes)
      unlink(unfinished)
      try withExtendedLifetime(first) {
        #expect(try first.opened() == nil)
        try directory.write([2], ".secrets.new")
        #expect(try first.opened() == nil)
      }
    }
    #expect(try directory.bytes(".secrets.new") == [2])
    unlink(path + ".lock")
    #expect(try place.replace(with: [3], under: lock) == nil)
    #expect(try directory.names() == [])
  }

  @Test(.enabled(if: geteuid() == 0, "only root may write what others own"))
  func `what root writes beside the file belongs to the owner of the file`() throws {
    let storage = EncryptedFileStorage(at: path, key: .cheap("right"))
    try storage.setPassword("the user's", for: .first)
    try FileManager.default.removeItem(atPath: path + ".lock")
    let nobody: uid_t = 65534
    chown(path, nobody, getgid())
    try storage[.first].update { _ in "root's" }
    for file in [path, path + ".lock", path + ".turns"] {
      let owner = try FileManager.default.attributesOfItem(atPath: file)[.ownerAccountID] as? Int
      #expect(owner == Int(nobody), "\(file)")
    }
    try directory.withoutPrivileges { () throws in
      #expect(try storage[.first].update { "\($0 ?? ""), the user's" } == "root's, the user's")
    }
  }

  @Test func `a write that waits for another writer can be canceled`() async throws {
    let storage = storage
    try await storage.setPassword("kept", for: .first)
    let lock = try #require(try FileLocation(path).lock())
    let opened = try FileEvents(UInt32(IN_OPEN), of: path + ".lock")
    let task = Task { try await storage.setPassword("late", for: .first) }
    opened.wait()
    task.cancel()
    await expectError(.canceled) { try await task.value }
    #expect(try await storage.password(for: .first) == "kept")
    withExtendedLifetime(lock) {}
  }
}
#endif
