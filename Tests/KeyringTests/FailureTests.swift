// SPDX-License-Identifier: Apache-2.0

import Keyring
import KeyringStorage
import Testing

/// The failures that a property remembers.
@Suite struct FailureTests {
  let storage = InMemoryStorage()
  let settings = Settings()

  /// Runs a closure in which failed assignments are expected, and therefore not printed.
  private func withFailures(_ operation: () throws -> Void) rethrows {
    try withSecureStorage(storage, failureHandler: ignore, operation: operation)
  }

  @Test func `a failed read is remembered until a read succeeds`() throws {
    try withFailures {
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

  @Test func `a failed removal is remembered`() throws {
    try withFailures {
      try storage.lock()
      settings.authToken = nil
      #expect(settings.$authToken.failure?.operation == .remove)
    }
  }

  @Test func `a throwing write that succeeds clears the failure`() throws {
    try withFailures {
      try storage.lock()
      settings.authToken = "s3cret"
      #expect(throws: SecureStorageError.self) { try settings.$authToken.write("s3cret") }
      #expect(settings.$authToken.failure?.code == .locked)
      try storage.unlock()
      try settings.$authToken.write("s3cret")
      #expect(settings.$authToken.failure == nil)
    }
  }

  @Test func `a failure belongs to its property`() throws {
    try withFailures {
      try storage.lock()
      settings.authToken = "s3cret"
      #expect(settings.$authToken.failure != nil)
      #expect(settings.$account.failure == nil)
      #expect(Settings().$authToken.failure == nil)
    }
  }
}
