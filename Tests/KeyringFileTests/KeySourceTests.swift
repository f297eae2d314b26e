// SPDX-License-Identifier: Apache-2.0

#if EncryptedFile && os(Linux)
import CKeyringLinux
import Foundation
import Keyring
import KeyringRuntime
import KeyringStorage
import KeyringTesting
import Synchronization
import TestPrograms
import Testing

@testable import KeyringFile
@testable import KeyringSealing

/// An entry of an access control list, in the system's format.
struct AccessControlEntry: Sendable {
  let kind: UInt16
  let permissions: UInt16
  let id: UInt32

  init(_ kind: UInt16, _ permissions: UInt16, _ id: UInt32 = .max) {
    (self.kind, self.permissions, self.id) = (kind, permissions, id)
  }
}

@Suite struct KeySourceTests {
  private let directory = TemporaryDirectory()

  private func storage(_ key: KeySource) -> EncryptedFileStorage {
    directory.storage(key: key)
  }

  // MARK: - Passphrases

  @Test func `a data key stays in the memory of one secret`() {
    let key = SealingKey()
    // Two copies that exist at the same time would have different addresses.
    let (one, other) = (key.bytes, key.bytes)
    withExtendedLifetime((one, other)) {
      #expect(one.withUnsafeBytes { $0.baseAddress } == other.withUnsafeBytes { $0.baseAddress })
    }
    #expect(one.count == 32 && one != SealingKey().bytes)
  }

  @Test func `a wrong passphrase has its own error and changes nothing`() throws {
    try storage(.cheap("right")).setPassword("s3cret", for: .first)
    let whole = try directory.bytes("secrets")
    for wrong in ["wrong", "right ", "Right"] {
      let storage = storage(.cheap(wrong))
      #expect(try code { _ = try storage.password(for: .first) } == .wrongKey)
      #expect(try code { try storage.setPassword("lost", for: .first) } == .wrongKey)
      #expect(try code { try storage.remove(.first) } == .wrongKey)
      #expect(try code { try storage.changeKey(to: .cheap("new")) } == .wrongKey)
    }
    #expect(try directory.bytes("secrets") == whole)
    #expect(try storage(.cheap("right")).password(for: .first) == "s3cret")
  }

  /// The user may give the right answer the second time.
  @Test func `a passphrase is asked for again after a wrong answer`() throws {
    try storage(.cheap("right")).setPassword("s3cret", for: .first)
    let answers = Mutex(["right", "wrong"])
    let storage = storage(
      .passphrase(cost: .standard) { _ throws(SecureStorageError) in
        Secret(answers.withLock { $0.removeLast() })
      })
    #expect(try code { _ = try storage.password(for: .first) } == .wrongKey)
    #expect(try storage.password(for: .first) == "s3cret")
    try storage.setPassword("new", for: .first)
    #expect(try storage.password(for: .first) == "new")
    #expect(answers.withLock { $0.isEmpty })
  }

  @Test func `several threads ask for the passphrase of a new file once`() throws {
    let questions = Mutex(0)
    let another = DispatchSemaphore(value: 0)
    let storage = storage(
      .passphrase(cost: .cheap) { _ throws(SecureStorageError) in
        let isFirst = questions.withLock { questions in
          questions += 1
          return questions == 1
        }
        // A thread that asks as well comes while the first one waits for the answer.
        if isFirst {
          _ = another.wait(timeout: .now() + .milliseconds(300))
        } else {
          another.signal()
        }
        return Secret("right")
      })
    DispatchQueue.concurrentPerform(iterations: 8) { number in
      let key = ItemKey.password(service: "org.example.app", account: "\(number)")
      #expect(throws: Never.self) { try storage.setPassword("\(number)", for: key) }
    }
    #expect(questions.withLock { $0 } == 1)
    let found = try self.storage(.cheap("right")).items(matching: .service("org.example.app"))
    #expect(found.count == 8)
    // A file that is created after a change of the key has the new key.
    try directory.remove("secrets")
    try storage.changeKey(to: .cheap("new"))
    try storage.setPassword("s3cret", for: .first)
    #expect(try self.storage(.cheap("new")).password(for: .first) == "s3cret")
  }

  /// The actor answers on the storage's thread, and runs the calls in its own queue there, too.
  @Test(.timeLimit(.minutes(1)))
  func `an actor can answer the question and use the storage`() async throws {
    actor Vault {
      var storage: EncryptedFileStorage?
      var read: Task<String?, any Error>?

      func setUp(_ storage: EncryptedFileStorage) { self.storage = storage }
      func password() async throws -> String? { try await storage?.password(for: .first) }
      func passphrase() -> Secret {
        read = Task { try await self.password() }
        // The other call is in the actor's queue when this one returns.
        usleep(100_000)
        return Secret("right")
      }
    }
    try await storage(.cheap("right")).setPassword("s3cret", for: .first)
    let vault = Vault()
    let storage = storage(
      .passphrase(cost: .cheap) { _ async throws(SecureStorageError) in await vault.passphrase() })
    await vault.setUp(storage)
    #expect(try await storage.password(for: .first) == "s3cret")
    #expect(try await vault.read?.value == "s3cret")
  }

  @Test func `the answer stays valid when another process writes the file`() throws {
    let other = storage(.cheap("right"))
    try other.setPassword("old", for: .first)
    let questions = Mutex(0)
    let storage = storage(
      .passphrase { _ throws(SecureStorageError) in
        questions.withLock { $0 += 1 }
        try other.setPassword("new", for: .first)
        return Secret("right")
      })
    _ = try storage.password(for: .first)
    #expect(try storage.password(for: .first) == "new")
    #expect(questions.withLock { $0 } == 1)
  }

  @Test func `other threads wait for the answer without a time limit`() throws {
    try storage(.cheap("right")).setPassword("s3cret", for: .first)
    let (isAsked, hasEnded) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let storage = directory.storage(
      key: .passphrase { _ throws(SecureStorageError) in
        isAsked.signal()
        // The other thread's timeout is over long before this.
        #expect(hasEnded.wait(timeout: .now() + .milliseconds(300)) == .timedOut)
        return Secret("right")
      }, timeout: .milliseconds(1))
    let queue = DispatchQueue(label: "other thread")
    let found = Mutex<String?>(nil)
    queue.async {
      // If nothing is asked, the read below has no password.
      _ = isAsked.wait(timeout: .now() + 30)
      let password = try? storage.password(for: .first)
      found.withLock { $0 = password }
      hasEnded.signal()
    }
    #expect(try storage.password(for: .first) == "s3cret")
    queue.sync {}
    #expect(found.withLock { $0 } == "s3cret")
  }

  /// A writer that has its key still has all its time for other writers.
  @Test func `the time for the answer does not count as a wait for the lock`() throws {
    let timeout = Duration.seconds(3)
    let held = Mutex(try FileLocation(directory.path("secrets")).lock())
    let opened = try FileEvents(UInt32(IN_OPEN), of: directory.path("secrets.lock"))
    let storage = directory.storage(
      key: .passphrase(cost: .cheap) { _ throws(SecureStorageError) in
        let answered = ContinuousClock.now + timeout
        while ContinuousClock.now < answered { sched_yield() }
        return Secret("right")
      }, timeout: timeout)
    let queue = DispatchQueue(label: "other writer")
    queue.async {
      // The other writer ends when the first one has tried to take the lock.
      opened.wait()
      held.withLock { $0 = nil }
    }
    try storage.setPassword("s3cret", for: .first)
    queue.sync {}
  }

  /// A declined passphrase, and an empty one.
  @Test(
    arguments: [
      (
        .passphrase { _ throws(SecureStorageError) in
          throw SecureStorageError(.userCanceled, operation: .unlock, backendName: "test")
        }, .userCanceled
      ), (.passphrase(Secret("")), .invalidArgument),
    ] as [(KeySource, SecureStorageError.Code)])
  func `without a passphrase, no file is made`(
    source: KeySource, code: SecureStorageError.Code
  ) throws {
    #expect(try storage(source).password(for: .first) == nil, "without a file, no question")
    expectError(code) { try storage(source).setPassword("lost", for: .first) }
    #expect(try directory.names().isEmpty)
  }

  /// This is the only test with the cost that users have.
  @Test func `a passphrase costs time only once`() throws {
    let storage = storage(.passphrase(Secret("pass")))
    try storage.setPassword("s3cret", for: .first)
    #expect(Array(try directory.bytes("secrets")[10..<14]) == [1, 17, 8, 1])
    let other = self.storage(.passphrase(Secret("pass")))
    let first = try ContinuousClock().measure { _ = try other.password(for: .first) }
    // On a busy machine, some reads wait for a processor.
    let second = try (0..<20).map { _ in
      try ContinuousClock().measure { _ = try other.password(for: .first) }
    }.min()
    #expect(first > .milliseconds(50))
    #expect(try #require(second) < first / 10)
  }

  // MARK: - Changing

  @Test func `the old key is wrong after a change of the key`() throws {
    let (mine, copy) = (storage(.cheap("old")), storage(.cheap("old")))
    try mine.setPassword("s3cret", for: .first)
    #expect(try copy.password(for: .first) == "s3cret")
    let old = try directory.bytes("secrets")
    try mine.changeKey(to: .cheap("new"))
    #expect(try mine.password(for: .first) == "s3cret")
    try mine.setPassword("second", for: .second)
    // The other storage has the old key, and the old data key as well.
    #expect(try code { _ = try copy.password(for: .first) } == .wrongKey)
    #expect(try code { try copy.setPassword("lost", for: .first) } == .wrongKey)
    let third = storage(.keyFile(at: directory.path("key")))
    #expect(try code { _ = try third.password(for: .first) } == .wrongKey)
    #expect(try storage(.cheap("new")).password(for: .second) == "second")
    let new = try directory.bytes("secrets")
    #expect(old[16..<108] != new[16..<108])
    try mine.changeKey(to: .keyFile(at: directory.path("key")))
    #expect(try third.password(for: .second) == "second")
  }

  @Test func `the key can be changed before there is a file`() async throws {
    let storage = storage(.cheap("old"))
    try await storage.changeKey(to: .cheap("new"))
    #expect(try directory.names().isEmpty)
    try await storage.setPassword("s3cret", for: .first)
    #expect(try await self.storage(.cheap("new")).password(for: .first) == "s3cret")
  }

  @Test func `a file that is created during a change of the key has the new key`() throws {
    let change = Mutex<(@Sendable () throws -> Void)?>(nil)
    let storage = storage(
      .passphrase(cost: .cheap) { _ throws(SecureStorageError) in
        let body = change.withLock { $0 }
        #expect(throws: Never.self) { try body?() }
        return Secret("old")
      })
    // There is no file yet when the key is changed, and the save already has the old key.
    change.withLock { $0 = { [storage] in try storage.changeKey(to: .cheap("new")) } }
    try storage.setPassword("s3cret", for: .first)
    change.withLock { $0 = nil }
    #expect(try self.storage(.cheap("new")).password(for: .first) == "s3cret")
    #expect(try code { _ = try self.storage(.cheap("old")).password(for: .first) } == .wrongKey)
  }

  // MARK: - Key files

  @Test func `a new key file is for its owner only`() throws {
    let source = KeySource.keyFile(at: directory.path("keys/key"))
    #expect(try storage(source).password(for: .first) == nil)
    #expect(try directory.names().isEmpty)
    try storage(source).setPassword("s3cret", for: .first)
    #expect(try directory.bytes("keys/key").count == 32)
    #expect(try directory.mode("keys/key") == 0o600)
    #expect(try directory.mode("keys") == 0o700)
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path("keys")) == ["key"])
    #expect(try storage(source).password(for: .first) == "s3cret")
  }

  /// Such a file system has neither a second name for a file nor a rename that replaces nothing.
  @Test func `one key is made at a time on a file system without links`() throws {
    for round in 0..<20 {
      let path = directory.path("key \(round)")
      let made = Mutex(0)
      DispatchQueue.concurrentPerform(iterations: 8) { number in
        [UInt8](repeating: UInt8(number), count: 32).withUnsafeBytes { bytes in
          let file = try? FileReplacement(of: path, with: bytes)
          if (try? file?.commitUnlessThereWithLock()) == true { made.withLock { $0 += 1 } }
        }
      }
      #expect(made.withLock { $0 } == 1)
    }
  }

  /// A killed process can leave one.
  @Test func `a leftover second name of the key file is removed`() throws {
    let source = KeySource.keyFile(at: directory.path("key"))
    try storage(source).setPassword("s3cret", for: .first)
    for name in [".swift-keyring-killed", "backup"] {
      try FileManager.default.linkItem(atPath: directory.path("key"), toPath: directory.path(name))
    }
    try directory.write([7], ".swift-keyring-other")
    let kept: Set = ["key", "backup", "secrets", "secrets.lock", ".swift-keyring-other"]
    #expect(!storage(source).diagnose().findings.isEmpty)
    #expect(
      try directory.names() == kept.union([".swift-keyring-killed"]), "the diagnosis changed it")
    #expect(try storage(source).password(for: .first) == "s3cret")
    #expect(try directory.names() == kept)
  }

  @Test func `the key that another process has made meanwhile stays`() throws {
    let request = FileLocation(directory.path("secrets")).keyRequest(.creation)
    let file = KeyFile(path: directory.path("key"), request: request)
    try file.make()
    let key = try directory.bytes("key")
    try file.make()
    #expect(try directory.bytes("key") == key)
    #expect(try directory.names() == ["key"])
  }

  @Test(arguments: [0o640, 0o604, 0o660, 0o666, 0o610])
  func `a key file that other users may use is refused`(mode: Int) throws {
    let source = KeySource.keyFile(at: directory.path("key"))
    try storage(source).setPassword("s3cret", for: .first)
    try directory.setMode(mode, of: "key")
    #expect(try code { _ = try storage(source).password(for: .first) } == .accessDenied)
    try directory.setMode(0o400, of: "key")
    #expect(try storage(source).password(for: .first) == "s3cret")
  }

  /// Gives a file an access control list, in which the owner may read it.
  private static func give(_ others: [AccessControlEntry], to path: String) -> Bool {
    let usual = [
      AccessControlEntry(0x01, 4), AccessControlEntry(0x10, 4), AccessControlEntry(0x20, 0),
    ]
    let entries = (usual + others).sorted { $0.kind < $1.kind }
    let bytes: [UInt8] =
      [2, 0, 0, 0]
      + entries.flatMap { entry -> [UInt8] in
        withUnsafeBytes(of: entry) { Array($0) }
      }
    return setxattr(path, "system.posix_acl_access", bytes, bytes.count, 0) == 0
  }

  private static let hasLists: Bool = {
    let directory = TemporaryDirectory()
    try? directory.write("", "file")
    return give(
      [AccessControlEntry(0x02, 4, 1), AccessControlEntry(0x04, 0)], to: directory.path("file"))
  }()

  /// systemd (since 254) gives a service its credentials so.
  @Test(
    .enabled(if: hasLists, "the file system has no access control lists"),
    arguments: [
      ([AccessControlEntry(0x02, 4, geteuid()), AccessControlEntry(0x04, 0)], nil),
      ([AccessControlEntry(0x02, 4, 12345), AccessControlEntry(0x04, 0)], .accessDenied),
      ([AccessControlEntry(0x04, 0), AccessControlEntry(0x08, 4, 12345)], .accessDenied),
      ([AccessControlEntry(0x02, 4, geteuid()), AccessControlEntry(0x04, 4)], .accessDenied),
    ] as [([AccessControlEntry], SecureStorageError.Code?)])
  func `a key file may have an access control list that lets only this user in`(
    list: [AccessControlEntry], expected: SecureStorageError.Code?
  ) throws {
    let source = KeySource.keyFile(at: directory.path("key"))
    try storage(source).setPassword("s3cret", for: .first)
    try #require(Self.give(list, to: directory.path("key")))
    #expect(try directory.mode("key") == 0o440)
    #expect(try code { _ = try storage(source).password(for: .first) } == expected)
  }

  /// The file isn't made again either.
  @Test func `a missing key file is an error, and no new key is made`() throws {
    let source = KeySource.keyFile(at: directory.path("key"))
    try storage(source).setPassword("s3cret", for: .first)
    let key = try directory.bytes("key")
    try directory.remove("key")
    #expect(try code { _ = try storage(source).password(for: .first) } == .keyNotFound)
    #expect(try code { try storage(source).setPassword("lost", for: .first) } == .keyNotFound)
    #expect(try !directory.names().contains("key"))
    try directory.write([UInt8](repeating: 7, count: 32), "key")
    try directory.setMode(0o600, of: "key")
    #expect(try code { _ = try storage(source).password(for: .first) } == .wrongKey)
    try directory.write(key, "key")
    try directory.setMode(0o600, of: "key")
    #expect(try storage(source).password(for: .first) == "s3cret")
  }

  // MARK: - Other sources

  @Test func `the key can be kept in another storage`() throws {
    let other = InMemoryStorage()
    let source = KeySource.storage(other, key: .second)
    #expect(try storage(source).password(for: .first) == nil)
    #expect(try !other.exists(.second))
    try storage(source).setPassword("s3cret", for: .first)
    #expect(try other.item(for: .second)?.secret?.count == 32)
    #expect(try storage(source).password(for: .first) == "s3cret")
    try other.lock()
    #expect(try code { _ = try storage(source).password(for: .first) } == .locked)
    try other.unlock()
    try other.remove(.second)
    #expect(try code { _ = try storage(source).password(for: .first) } == .keyNotFound)
    #expect(try !other.exists(.second))
  }

  /// A storage that checks for an item, and then replaces any item that is there.
  ///
  /// The Secret Service does the same.
  private final class OverwritingStorage: BlockingStorage, ForwardingStorage {
    let base = InMemoryStorage()
    /// The action of another process between a check and a save, which happens once.
    let meanwhile = Mutex<(@Sendable () -> Void)?>(nil)

    func save(_ item: SecureItem, mode: SaveMode) throws(SecureStorageError) {
      if mode == .add, try base.exists(item.key) {
        throw error(.itemAlreadyExists, during: .save)
      }
      let body = meanwhile.withLock { body in
        defer { body = nil }
        return body
      }
      body?()
      try base.save(item, mode: .addOrReplace)
    }
  }

  @Test(arguments: [false, true])
  func `a key that two processes make is not lost`(isChanged: Bool) throws {
    let other = OverwritingStorage()
    let source = KeySource.storage(other, key: .second)
    let before = isChanged ? KeySource.cheap("before") : source
    if isChanged { try storage(before).setPassword("before", for: .second) }
    let mine = storage(before)
    let process = directory.storage(key: before, timeout: .milliseconds(20))
    let result = Mutex<Result<Void, SecureStorageError>?>(nil)
    other.meanwhile.withLock {
      $0 = {
        let attempt = Result { () throws(SecureStorageError) in
          if isChanged {
            try process.changeKey(to: source)
          } else {
            try process.setPassword("of another process", for: .second)
          }
        }
        result.withLock { $0 = attempt }
      }
    }
    if isChanged { try mine.changeKey(to: source) }
    try mine.setPassword("mine", for: .first)
    #expect(throws: SecureStorageError.self, "it waits") { try result.withLock { $0 }?.get() }
    #expect(try storage(source).password(for: .first) == "mine")
    if !isChanged { try process.setPassword("later", for: .second) }
    #expect(try storage(source).password(for: .second) == (isChanged ? "before" : "later"))
  }

  // MARK: - The app's own sources

  @Test func `a source may wait for its key`() async throws {
    let purposes = RequestLog()
    let source = KeySource(named: "vault") { (request) async throws(SecureStorageError) in
      purposes.add(request.purpose)
      await Task.yield()
      if request.purpose == .inspection {
        throw request.error(.locked, "The vault is closed.")
      }
      return Secret(bytes: [UInt8](repeating: 7, count: 32))
    }
    let text = "\(try await storage(source).diagnose())"
    #expect(text.contains("a vault; a diagnosis doesn't ask for it"))
    let saveSynchronously = { () throws in
      try self.storage(source).setPassword("s3cret", for: .first)
    }
    try saveSynchronously()
    try await storage(source).setPassword("other", for: .second)
    let readSynchronously = { () throws in try self.storage(source).password(for: .first) }
    #expect(try readSynchronously() == "s3cret")
    #expect(try await storage(source).password(for: .second) == "other")
    #expect(purposes.all == [.inspection, .creation, .opening, .opening, .opening])
  }

  @Test func `the error of a source names the file`() throws {
    let source = KeySource(named: "vault") { (request) async throws(SecureStorageError) in
      throw request.error(.keyNotFound, "The vault has no key for the \(request.subject).")
    }
    let error = expectError(.keyNotFound) { try storage(source).setPassword("lost", for: .first) }
    #expect(error?.operation == .save)
    #expect(error?.message.contains(directory.path("secrets")) == true)
    #expect(error?.backendName == storage(source).backendName)
  }

  @Test func `a key of another source or length is refused`() throws {
    let key: @Sendable (Int) -> KeySource = { count in
      KeySource(named: "vault") { (_) async throws(SecureStorageError) in
        Secret(bytes: [UInt8](repeating: 7, count: count))
      }
    }
    #expect(try code { try storage(key(31)).setPassword("lost", for: .first) } == .invalidArgument)
    try storage(key(32)).setPassword("s3cret", for: .first)
    #expect(try code { _ = try storage(.cheap("pass")).password(for: .first) } == .wrongKey)
    #expect(try code { _ = try storage(key(33)).password(for: .first) } == .wrongKey)
  }

  @Test func `a source without a key is a missing storage`() throws {
    let source = KeySource(named: "vault") { (request) async throws(SecureStorageError) in
      throw request.error(.keyNotFound)
    }
    #expect(storage(source).diagnose().failure?.code == .noStorage)
    #expect(storage(.keyFile(at: directory.path("key"))).diagnose().failure == nil)
    // A key file below a file is an error of its own.
    try directory.write([1], "file")
    let below = storage(.keyFile(at: directory.path("file/key")))
    #expect(below.diagnose().failure?.code == .other)
  }

  @Test func `no source shows its key`() throws {
    let sources: [KeySource] = [
      .passphrase(Secret("hidden")), .keyFile(at: "/hidden"), .systemdCredential("hidden"),
    ]
    for source in sources {
      for (way, text) in Renderings.of(source) { #expect(!text.contains("hidden"), "\(way)") }
    }
  }
}

/// Keys that are systemd credentials.
///
/// The variable belongs to the process. No other test sets it in this process.
@Suite(.serialized) struct SystemdCredentialTests {
  private let directory = TemporaryDirectory()
  private let storage: EncryptedFileStorage

  init() { storage = directory.storage(key: .systemdCredential("file-key")) }

  @Test func `a systemd credential is the key`() throws {
    setenv("CREDENTIALS_DIRECTORY", directory.path, 1)
    defer { unsetenv("CREDENTIALS_DIRECTORY") }
    #expect(try code { try storage.setPassword("lost", for: .first) } == .keyNotFound)
    #expect(try directory.names().isEmpty)
    try directory.write([UInt8](repeating: 7, count: 40), "file-key")
    // systemd gives a credential this mode for a user that it makes itself. An access control list
    // lets that user in.
    chmod(directory.path("file-key"), 0o440)
    try storage.setPassword("s3cret", for: .first)
    #expect(try storage.password(for: .first) == "s3cret")
    #expect(try directory.bytes("secrets")[10] == 3)
    // The same key from another source opens the file as well.
    chmod(directory.path("file-key"), 0o400)
    let other = directory.storage(key: .keyFile(at: directory.path("file-key")))
    #expect(try other.password(for: .first) == "s3cret")
  }

  @Test func `a program that systemd did not start has no credential`() throws {
    #expect(try code { try storage.setPassword("lost", for: .first) } == .keyNotFound)
    #expect(try directory.names().isEmpty)
  }

  @Test(arguments: ["", "../key", ".", ".."])
  func `a name that is empty or a path is not a credential`(name: String) throws {
    setenv("CREDENTIALS_DIRECTORY", directory.path, 1)
    defer { unsetenv("CREDENTIALS_DIRECTORY") }
    let storage = directory.storage(key: .systemdCredential(name))
    #expect(try code { try storage.setPassword("lost", for: .first) } == .invalidArgument)
  }
}
#endif
