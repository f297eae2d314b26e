// SPDX-License-Identifier: Apache-2.0

import Keyring
import KeyringStorage
import KeyringTesting
import Synchronization
import Testing

/// The defaults that the whole process shares.
///
/// Each test has a process of its own.
@Suite struct ProcessDefaultsTests {
  @Test func `the service is the name of the executable unless it is set`() async {
    await #expect(processExitsWith: .success) {
      #expect(Settings().$authToken.key.attributes["service"]?.hasSuffix(".xctest") == true)
      SecureStorageDefaults.service = "org.example.app"
      #expect(
        Settings().$authToken.key == .password(service: "org.example.app", account: "authToken"))
      #expect(Settings().$shared.key.attributes["service"] == "another service")
    }
  }

  @Test func `the storage of the process is used if there is no override`() async {
    await #expect(processExitsWith: .success) {
      SecureStorageDefaults.storage = InMemoryStorage()
      let settings = Settings()
      settings.authToken = "of the process"
      withSecureStorage(InMemoryStorage()) { #expect(settings.authToken == nil) }
      #expect(await Task.detached { Settings().authToken }.value == "of the process")
      SecureStorageDefaults.storage = nil
      #expect(throws: SecureStorageError.self) { try settings.$authToken.read() }
    }
  }

  private final class Ending: Sendable {
    deinit { SecureStorageDefaults.storage = nil }
  }

  @Test func `the end of a handler or a storage can use the defaults`() async {
    await #expect(processExitsWith: .success) {
      SecureStorageDefaults.storage = InMemoryStorage()
      SecureStorageDefaults.failureHandler = { [ending = Ending()] _ in
        withExtendedLifetime(ending) {}
      }
      SecureStorageDefaults.failureHandler = nil
      #expect(SecureStorageDefaults.storage == nil)
      let storage = FirstAvailableStorage([InMemoryStorage()], remembering: .nowhere) {
        [ending = Ending()] _ in withExtendedLifetime(ending) {}
      }
      SecureStorageDefaults.storage = consume storage
      SecureStorageDefaults.storage = InMemoryStorage()
      #expect(SecureStorageDefaults.storage == nil)
    }
  }

  @Test func `a failed assignment reaches the handler once`() async {
    await #expect(processExitsWith: .success) {
      let failures = Mutex<[SecurePropertyFailure]>([])
      SecureStorageDefaults.failureHandler = { failure in failures.withLock { $0.append(failure) } }
      let storage = FaultyStorage()
      withSecureStorage(storage) {
        let settings = Settings()
        settings.authToken = "old"
        storage.fail(.save, with: .locked, onCall: 1)
        storage.fail(.read, with: .timedOut, onCall: 1)
        settings.authToken = "new"
        #expect(settings.authToken == nil, "a failed read is not reported, only remembered")
        #expect(settings.authToken == "old")
        #expect(settings.$authToken.failure?.operation == .save, "a read does not clear it")
        settings.authToken = "newer"
        #expect(settings.authToken == "newer" && settings.$authToken.failure == nil)
      }
      let seen = failures.withLock { $0 }
      #expect(seen.count == 1)
      #expect(seen.first?.property == "authToken")
      #expect(seen.first?.error.operation == .save && seen.first?.error.code == .locked)
    }
  }

  @Test func `a failed assignment without a handler is one line on standard error`() async {
    let result = await #expect(
      processExitsWith: .success, observing: [\.standardErrorContent]
    ) {
      let storage = InMemoryStorage()
      try storage.lock()
      withSecureStorage(storage) { Settings().authToken = "a marker that must not be shown" }
    }
    let lines = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
      .split(separator: "\n").filter { $0.contains("authToken") }
    #expect(lines.count == 1)
    #expect(lines.first?.contains("locked") == true)
    #expect(lines.first?.contains("marker") == false)
  }
}
