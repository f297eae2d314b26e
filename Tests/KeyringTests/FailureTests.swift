import Keyring
import KeyringTesting
import Synchronization
import Testing

/// What a property remembers of its failures.
@Suite struct FailureTests {
  let storage = InMemoryStorage()
  let settings = Settings()

  @Test func failedWriteStaysUntilAWriteSucceeds() throws {
    try withSecureStorage(storage) {
      settings.authToken = "old"
      try storage.lock()
      settings.authToken = "new"
      #expect(settings.$authToken.failure?.code == .locked)
      #expect(settings.$authToken.failure?.operation == .save)
      try storage.unlock()

      #expect(settings.authToken == "old")
      #expect(settings.$authToken.failure?.operation == .save, "a read must not clear it")
      settings.authToken = "newer"
      #expect(settings.$authToken.failure == nil)
      #expect(settings.authToken == "newer")
    }
  }

  @Test func failedReadStaysUntilAReadSucceeds() throws {
    try withSecureStorage(storage) {
      settings.authToken = "s3cret"
      try storage.lock()
      #expect(settings.authToken == nil)
      #expect(settings.$authToken.failure?.code == .locked)
      #expect(settings.$authToken.failure?.operation == .read)
      try storage.unlock()
      #expect(settings.authToken == "s3cret")
      #expect(settings.$authToken.failure == nil)
    }
  }

  @Test func failedRemovalIsRemembered() throws {
    try withSecureStorage(storage) {
      try storage.lock()
      settings.authToken = nil
      #expect(settings.$authToken.failure?.operation == .remove)
    }
  }

  @Test func throwingWriteClearsTheFailure() throws {
    try withSecureStorage(storage) {
      try storage.lock()
      settings.authToken = "s3cret"
      #expect(throws: SecureStorageError.self) { try settings.$authToken.write("s3cret") }
      #expect(settings.$authToken.failure?.code == .locked)
      try storage.unlock()
      try settings.$authToken.write("s3cret")
      #expect(settings.$authToken.failure == nil)
    }
  }

  @Test func failuresBelongToTheirProperty() throws {
    try withSecureStorage(storage) {
      try storage.lock()
      settings.authToken = "s3cret"
      #expect(settings.$authToken.failure != nil)
      #expect(settings.$account.failure == nil)
      #expect(Settings().$authToken.failure == nil)
    }
  }

  @Test func undecodableIsAFailureAndStays() throws {
    try withSecureStorage(storage) {
      let bytes = Secret(bytes: [0xFF])
      try storage.save(SecureItem(key: settings.$authToken.key, secret: bytes), mode: .add)
      #expect(settings.authToken == nil)
      #expect(settings.$authToken.failure?.code == .undecodable)
      #expect(try storage.item(for: settings.$authToken.key)?.secret == bytes)
    }
  }
}
