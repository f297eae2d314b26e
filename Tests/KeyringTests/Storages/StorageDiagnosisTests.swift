// SPDX-License-Identifier: Apache-2.0

import Foundation
import Keyring
import KeyringRuntime
import KeyringStorage
import KeyringTesting
import TestPrograms
import Testing

/// The diagnosis that any storage gives of itself.
@Suite struct StorageDiagnosisTests {
  @Test func `a storage that works has no failure`() throws {
    let storage = InMemoryStorage()
    #expect(storage.diagnose().failure == nil)
    #expect("\(storage.diagnose())" == "ok: InMemoryStorage, reading: works")
    let writing = storage.diagnose(writing: true)
    #expect(writing.failure == nil && writing.findings.map(\.subject) == ["reading", "writing"])
    #expect(try storage.items(matching: ItemQuery()).isEmpty)
  }

  /// A call that doesn't notice its cancellation ends like one that does.
  ///
  /// A caller that has cancelled doesn't want the result.
  @Test(arguments: [true, false])
  func `a cancelled diagnosis is an error`(isNoticed: Bool) async throws {
    let faulty = FaultyStorage()
    let gate = faulty.suspend(.read)
    let storage: any SecureStorage = isNoticed ? faulty : DeafStorage(base: faulty)
    let task = Task { try await storage.diagnose() }
    await gate.waitForCall()
    task.cancel()
    gate.open()
    let error = await expectError(.canceled) { try await task.value }
    #expect(error?.operation == .diagnose)
    #expect(error?.backendName == storage.backendName)
  }

  @Test func `a diagnosis that is cancelled before it begins is not made`() async throws {
    let storage = FaultyStorage()
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await storage.diagnose(writing: true)
    }
    await expectError(.canceled) { try await task.value }
    #expect(storage.count(of: .read) == 0 && storage.count(of: .save) == 0)
  }

  @Test func `the diagnosis of a locked storage says how to unlock it`() throws {
    let storage = InMemoryStorage()
    try storage.lock()
    let diagnosis = storage.diagnose(writing: true)
    #expect(diagnosis.failure?.code == .locked && diagnosis.findings.map(\.state) == [.failure])
    #expect("\(diagnosis)".contains("Unlock it in your keyring manager"))
  }

  @Test func `a missing collection is a failure`() {
    let diagnosis = InMemoryStorage().collection(labeled: "none").diagnose()
    #expect(diagnosis.failure?.code == .collectionNotFound)
  }

  @Test(arguments: [SecureStorageError.Operation.save, .remove])
  func `only a diagnosis that writes finds failed writes`(operation: SecureStorageError.Operation) {
    let storage = FaultyStorage()
    storage.fail(operation, with: .accessDenied)
    #expect(storage.diagnose().failure == nil)
    #expect(storage.diagnose(writing: true).failure?.code == .accessDenied)
  }

  @Test func `a probe that cannot be read back is still removed`() throws {
    let base = InMemoryStorage()
    let storage = FaultyStorage(base)
    storage.fail(.read, with: .connectionLost, onCall: 2)
    #expect(storage.diagnose(writing: true).failure?.code == .connectionLost)
    #expect(try base.items(matching: ItemQuery()).isEmpty)
  }

  @Test func `a diagnosis does not write to a read-only storage`() throws {
    let directory = TemporaryDirectory()
    try directory.write("s3cret", "token")
    let storage = CredentialsDirectoryStorage(service: "service", directory: directory.path)
    let diagnosis = storage.diagnose(writing: true)
    #expect(diagnosis.failure == nil && "\(diagnosis)".hasSuffix("has token"))
    let missing = CredentialsDirectoryStorage(
      service: "service", directory: directory.path + "/none")
    #expect(missing.diagnose().failure?.code == .noStorage)
  }

  @Test func `a storage that the environment does not provide is a failure`() async {
    await #expect(processExitsWith: .success) { () throws -> Void in
      let storage = EnvironmentStorage(service: "service", prefix: "EXAMPLE_")
      setenv("EXAMPLE_EMPTY", "", 1)
      #expect(storage.diagnose().failure?.code == .noStorage)
      setenv("EXAMPLE_TOKEN", "s3cret", 1)
      #expect("\(storage.diagnose())" == "ok: EnvironmentStorage, variables: EXAMPLE_TOKEN")
      unsetenv("CREDENTIALS_DIRECTORY")
      let given = CredentialsDirectoryStorage(service: "service")
      #expect(given.diagnose().failure?.code == .noStorage)
      expectError(.noStorage) {
        try given.password(for: .password(service: "service", account: "token"))
      }
    }
  }

  @Test func `every finding is one line`() {
    let finding = StorageDiagnosis.Finding(
      storage: "a\nb", subject: "c\r\nd", state: .notice, text: "e\u{1B}[31m\u{2028}f",
      recoverySuggestion: "g\u{85}h")
    #expect(finding.description == "notice: a b, c  d: e [31m f g h")
  }
}

/// A storage that isn't told when its call is cancelled.
private struct DeafStorage: BlockingStorage, ForwardingStorage {
  let base: FaultyStorage

  func items(matching query: ItemQuery) throws(SecureStorageError) -> [SecureItem] {
    try Cancellation.$current.withValue(nil) {
      Result { () throws(SecureStorageError) in try base.items(matching: query) }
    }.get()
  }
}
