// SPDX-License-Identifier: Apache-2.0

#if EncryptedFile && os(Linux)
import CKeyringLinux
import Foundation
import KeyringStorage
import KeyringTesting
import Synchronization
import TestPrograms
import Testing

@testable import KeyringFile
@testable import KeyringSealing

/// Keys that the Linux kernel keeps.
///
/// Each test has a session keyring of its own.
@Suite(.enabled(if: hasKernelKeyrings, "the system denies the use of keyrings"))
struct KernelKeyringTests {
  private let directory = TemporaryDirectory()
  private let questions = Counter()

  /// Returns a storage with a passphrase that is asked for, as a new process creates it.
  private func storage(
    _ passphrase: String = "right", for duration: Duration = .seconds(3600),
    in keyring: KernelKeyring = .session
  ) -> EncryptedFileStorage {
    let questions = questions
    let source = KeySource.passphrase(cost: .cheap) { _ throws(SecureStorageError) in
      questions.increase()
      return Secret(passphrase)
    }
    return directory.storage(key: source.held(for: duration, in: keyring))
  }

  @Test func `a passphrase is typed once in a session`() throws {
    try inOwnSession {
      try storage().setPassword("s3cret", for: .first)
      #expect(questions.count == 1)
      #expect(try storage().password(for: .first) == "s3cret")
      try storage().setPassword("new", for: .first)
      #expect(try storage().password(for: .first) == "new")
      #expect(questions.count == 1)
      try KernelKeyring.session.forgetKeys()
      #expect(try storage().password(for: .first) == "new")
      #expect(questions.count == 2)
    }
    try inOwnSession { _ = try storage().password(for: .first) }
    #expect(questions.count == 3, "another session has the key")
  }

  @Test func `a changed passphrase is asked for`() throws {
    try inOwnSession {
      let other = storage()
      try other.setPassword("s3cret", for: .first)
      try other.changeKey(to: .cheap("changed"))
      #expect(try code { _ = try storage().password(for: .first) } == .wrongKey)
      #expect(try storage("changed").password(for: .first) == "s3cret")
      #expect(questions.count == 3)
    }
  }

  @Test func `a key that doesn't open the file is forgotten`() throws {
    try inOwnSession {
      try storage().setPassword("s3cret", for: .first)
      let name = try #require(try keys().first)
      try KernelKeyring.session.add(
        Secret(bytes: [UInt8](repeating: 7, count: 32)), named: name, for: .seconds(60))
      #expect(try code { _ = try storage().password(for: .first) } == .wrongKey)
      #expect(try storage().password(for: .first) == "s3cret")
      #expect(questions.count == 2)
    }
  }

  @Test func `a diagnosis uses the key and keeps none`() throws {
    try inOwnSession {
      try storage().setPassword("s3cret", for: .first)
      let found = storage().diagnose().findings.map(\.text)
      #expect(found.contains { $0.contains("which opens the file") }, "\(found)")
      try KernelKeyring.session.forgetKeys()
      let missing = storage().diagnose().findings.map(\.text)
      #expect(missing.contains { $0.contains("doesn't ask for") }, "\(missing)")
      let inspected = KeySource.key(Secret(bytes: [UInt8](repeating: 7, count: 32)))
      let other = directory.storage("other", key: inspected.held(for: .seconds(60)))
      try other.setPassword("s3cret", for: .first)
      try KernelKeyring.session.forgetKeys()
      let again = directory.storage("other", key: inspected.held(for: .seconds(60)))
      #expect(again.diagnose().failure == nil)
      #expect(try keys().isEmpty)
    }
  }

  @Test func `the kernel shows who can use the key and for how long`() throws {
    try inOwnSession {
      try storage(for: .seconds(7200)).setPassword("s3cret", for: .first)
      let line = try #require(try ownLines().first)
      let fields = line.split(separator: " ")
      #expect(fields[3] == "2h" || fields[3] == "1h" || fields[3] == "119m", "\(line)")
      #expect(fields[4] == "3f000000", "\(line)")
      #expect(line.contains(": 32"), "\(line)")
      // Only the session keyring links to it.
      #expect(try keys().count == 1)
    }
  }

  @Test func `the kernel forgets the key when the time is over`() throws {
    try inOwnSession {
      try storage(for: .seconds(1)).setPassword("s3cret", for: .first)
      // On a busy machine, it may be over already.
      if let name = try keys().first {
        #expect(waitUntil { (try? KernelKeyring.session.key(named: name)) == nil })
      }
      #expect(try storage().password(for: .first) == "s3cret")
      #expect(questions.count == 2)
    }
  }

  @Test(.enabled(if: geteuid() == 0, "needs root"))
  func `a session of another user gets no key`() throws {
    try inOwnSession {
      let session = UInt(bitPattern: Int(KEY_SPEC_SESSION_KEYRING))
      // As with sudo, the keyring belongs to another user, and this thread can still use it.
      try #require(swift_keyring_keyctl(Int32(KEYCTL_CHOWN), session, 65534, .max, 0) == 0)
      try storage().setPassword("s3cret", for: .first)
      #expect(try keys().isEmpty)
      #expect(try storage().password(for: .first) == "s3cret" && questions.count == 2)
      #expect(try code { try KernelKeyring.session.forgetKeys() } == .accessDenied)
    }
  }

  @Test func `a keyring that can't be used costs only a question`() throws {
    try inOwnSession {
      try storage().setPassword("s3cret", for: .first)
      let session = UInt(bitPattern: Int(KEY_SPEC_SESSION_KEYRING))
      try #require(swift_keyring_keyctl(Int32(KEYCTL_REVOKE), session, 0, 0, 0) == 0)
      #expect(try storage().password(for: .first) == "s3cret")
      #expect(questions.count == 2)
      #expect(try code { try KernelKeyring.session.forgetKeys() } == .other)
    }
  }

  @Test(.enabled(if: hasPersistentKeyrings, "the kernel has no persistent keyrings"))
  func `the user's keyring outlasts a session`() throws {
    try inOwnSession { try storage(in: .persistent).setPassword("s3cret", for: .first) }
    let salt = try directory.bytes("secrets")[16..<48]
    let name = salt.map { String(format: "%02x", $0) }.joined()
    try inOwnSession {
      defer { try? KernelKeyring.persistent.removeKey(named: name) }
      #expect(try storage(in: .persistent).password(for: .first) == "s3cret")
      #expect(questions.count == 1)
      try KernelKeyring.persistent.removeKey(named: name)
      #expect(try storage(in: .session).password(for: .first) == "s3cret")
      #expect(questions.count == 2)
    }
  }

  @Test func `a file whose key the kernel keeps follows the contract`() throws {
    try inOwnSession {
      let rules = StorageContract.cases(for: EncryptedFileStorage.self)
      for rule in rules { try rule.verify(storage(), restart: { _ in storage() }) }
      // The threads that some rules start aren't in this session.
      #expect(questions.count < rules.count / 2)
    }
  }

  @Test func `any source's key can be kept`() throws {
    try inOwnSession {
      let source = KeySource.keyFile(at: directory.path("key")).held(for: .seconds(60))
      let file = directory.path("secrets")
      try EncryptedFileStorage(at: file, key: source).setPassword("s3cret", for: .first)
      try directory.remove("key")
      #expect(try EncryptedFileStorage(at: file, key: source).password(for: .first) == "s3cret")
    }
  }

  // MARK: - The session

  /// Returns the names of the keys that this package has stored in the session.
  private func keys() throws -> [String] {
    try ownLines().compactMap { line in
      line.split(separator: ":").dropFirst().first.map { String($0.split(separator: " ")[0]) }
    }
  }

  /// Returns the lines of this package's keys in the kernel's list of the keys that this thread can see.
  private func ownLines() throws -> [Substring] {
    try String(contentsOfFile: "/proc/keys", encoding: .utf8).split(separator: "\n")
      .filter { $0.contains(" swift-keyring:") }
  }
}

/// Whether the system lets this process use keyrings, which some containers don't.
private let hasKernelKeyrings = (try? inOwnSession {}) != nil

private let hasPersistentKeyrings =
  (try? inOwnSession {
    let thread = UInt(bitPattern: Int(KEY_SPEC_THREAD_KEYRING))
    try #require(swift_keyring_keyctl(Int32(KEYCTL_GET_PERSISTENT), .max, thread, 0, 0) >= 0)
  }) != nil

/// Runs a closure on a thread with a session keyring of its own.
private func inOwnSession(_ body: @escaping @Sendable () throws -> Void) throws {
  let outcome = Mutex<Result<Void, any Error>?>(nil)
  let end = DispatchSemaphore(value: 0)
  let thread = Thread {
    let result = Result {
      guard swift_keyring_keyctl(Int32(KEYCTL_JOIN_SESSION_KEYRING), 0, 0, 0, 0) >= 0 else {
        throw CocoaError(.featureUnsupported)
      }
      try body()
    }
    outcome.withLock { $0 = result }
    end.signal()
  }
  thread.start()
  end.wait()
  try outcome.withLock { $0 }?.get()
}

private final class Counter: Sendable {
  private let value = Mutex(0)
  var count: Int { value.withLock { $0 } }
  func increase() { value.withLock { $0 += 1 } }
}
#endif
