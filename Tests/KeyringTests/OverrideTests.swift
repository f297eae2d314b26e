// SPDX-License-Identifier: Apache-2.0

import Keyring
import KeyringStorage
import KeyringTesting
import Synchronization
import TestPrograms
import Testing

/// The storage that a property uses.
@Suite struct OverrideTests {
  let settings = Settings()

  @Test func `an inner override ends with its closure`() {
    withSecureStorage(InMemoryStorage()) {
      settings.authToken = "outer"
      withSecureStorage(InMemoryStorage()) {
        #expect(settings.authToken == nil)
        settings.authToken = "inner"
      }
      #expect(settings.authToken == "outer")
    }
  }

  @Test func `an override crosses await and reaches child tasks`() async {
    await withSecureStorage(InMemoryStorage()) {
      settings.authToken = "s3cret"
      await Task.yield()
      #expect(settings.authToken == "s3cret")
      async let child = settings.authToken
      #expect(await child == "s3cret")
      await withTaskGroup(of: String?.self) { group in
        for _ in 0..<4 { group.addTask { [settings] in settings.authToken } }
        for await value in group { #expect(value == "s3cret") }
      }
      let task = Task { [settings] in settings.authToken }
      #expect(await task.value == "s3cret")
      let detached = Task.detached { [settings] in settings.authToken }
      #expect(await detached.value == nil)
    }
  }

  @Test func `an explicit storage takes precedence over an override`() {
    struct Explicit {
      @Password("authToken") var authToken: String?
      init(_ storage: any SecureStorage) { _authToken = Password("authToken", storage: storage) }
    }
    let storage = InMemoryStorage()
    withSecureStorage(InMemoryStorage()) {
      Explicit(storage).authToken = "explicit"
      #expect(settings.authToken == nil)
    }
    #expect(Explicit(storage).authToken == "explicit")
  }

  @Test func `an override returns and throws what its closure does`() async throws {
    struct Stop: Error {}
    #expect(withSecureStorage(InMemoryStorage()) { 7 } == 7)
    #expect(
      await withSecureStorage(InMemoryStorage()) {
        await Task.yield()
        return 7
      } == 7)
    #expect(throws: Stop.self) {
      try withSecureStorage(InMemoryStorage()) { () throws(Stop) in throw Stop() }
    }
    await #expect(throws: Stop.self) {
      try await withSecureStorage(InMemoryStorage()) { () async throws(Stop) in
        await Task.yield()
        throw Stop()
      }
    }
  }

  @Test func `failed assignments go to the innermost handler`() async {
    let seen = Mutex<[String]>([])
    func handler(_ name: String) -> @Sendable (SecurePropertyFailure) -> Void {
      { failure in seen.withLock { $0.append("\(name): \(failure.property)") } }
    }
    let storage = FaultyStorage()
    storage.fail(.save, with: .locked)
    await withSecureStorage(storage, failureHandler: handler("outer")) {
      settings.authToken = "s3cret"
      withSecureStorage(storage) { settings.shared = "s3cret" }
      withSecureStorage(storage, failureHandler: handler("inner")) { settings.authToken = "s3cret" }
      @Password("own", storage: storage) var own: String?
      own = "s3cret"
      await Task { settings.authToken = "s3cret" }.value
    }
    let expected = [
      "outer: authToken", "outer: shared", "inner: authToken", "outer: own", "outer: authToken",
    ]
    #expect(seen.withLock { $0 } == expected)
  }

  @Test(
    .secureStorage(FaultyStorage(), failureHandler: { failure in OverrideTests.report(failure) }))
  func `the trait has a handler, too`() throws {
    let storage = try #require(SecureStorageDefaults.currentStorage as? FaultyStorage)
    storage.fail(.save, with: .locked)
    Self.reported.withLock { $0 = [] }
    settings.authToken = "s3cret"
    #expect(Self.reported.withLock { $0 } == [.locked])
  }

  private static let reported = Mutex<[SecureStorageError.Code]>([])

  private static func report(_ failure: SecurePropertyFailure) {
    reported.withLock { $0.append(failure.error.code) }
  }

  @Test func `the result of an override doesn't have to be used`() {
    let storage = FaultyStorage()
    storage.fail(.save, with: .locked)
    // The macro returns an error, and the compiler warns if it isn't used.
    withSecureStorage(storage) {
      #expect(throws: SecureStorageError.self) { try settings.$authToken.write("s3cret") }
    }
  }

  @Test func `a test process without an override is refused`() throws {
    let error = expectError(.noStorage) { try settings.$authToken.read() }
    #expect(error?.message.contains("\"authToken\"") == true)
    #expect(error?.recoverySuggestion?.contains("@Test(.secureStorage(InMemoryStorage()))") == true)
    #expect(throws: SecureStorageError.self) { try settings.$authToken.write("s3cret") }
    #expect(throws: SecureStorageError.self) { try settings.$authToken.remove() }
    #expect(settings.account == nil)
    #expect(settings.$account.failure?.code == .noStorage)
  }
}
