// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Keyring
import KeyringStorage
import Testing

/// A use of a storage by an app, so that a test can try a fault with every use.
enum StorageUse: CaseIterable, CustomTestStringConvertible {
  case read, find, save, add, remove, lock, unlock, propertyRead, propertyWrite

  static let key = ItemKey.password(service: "service", account: "account")

  func callAsFunction(_ storage: SecretServiceStorage) throws {
    switch self {
    case .read: _ = try storage.password(for: Self.key)
    case .find: _ = try storage.items(matching: .service("service"))
    case .save: try storage.setPassword("s3cret", for: Self.key)
    case .add:
      try storage.setPassword(
        "s3cret", for: .password(service: "service", account: "new"), mode: .add)
    case .remove: try storage.remove(Self.key)
    case .lock: try storage.lock()
    case .unlock: try storage.unlock()
    case .propertyRead, .propertyWrite:
      let property = Password<String?>("account", service: "service", storage: storage)
      // The failure is expected, so it isn't printed.
      withSecureStorage(storage, failureHandler: Self.ignore) {
        if self == .propertyRead {
          #expect(property.wrappedValue == nil)
        } else {
          property.wrappedValue = "s3cret"
        }
      }
      if let failure = property.failure { throw failure }
    }
  }

  private static func ignore(_ failure: SecurePropertyFailure) {}

  var operation: SecureStorageError.Operation {
    switch self {
    case .read, .find, .propertyRead: .read
    case .save, .add, .propertyWrite: .save
    case .remove: .remove
    case .lock: .lock
    case .unlock: .unlock
    }
  }

  var testDescription: String { "\(self)" }

  /// Expects that the use fails in time, with an error that helps its reader.
  ///
  /// - Parameters:
  ///   - code: The code of the error.
  ///   - storage: The storage.
  ///   - cause: Words of the error that name the cause.
  ///   - recoverySuggestion: Words of the error that name the next step.
  ///   - limit: The longest time that the use may take.
  ///   - sourceLocation: The source location of the expectation.
  /// - Returns: The error.
  @discardableResult
  func expectFailure(
    _ code: SecureStorageError.Code, _ storage: SecretServiceStorage, cause: String = "",
    recoverySuggestion: String = "", within limit: Duration = .seconds(15),
    sourceLocation: SourceLocation = #_sourceLocation
  ) -> SecureStorageError? {
    let start = ContinuousClock.now
    let error = #expect(throws: SecureStorageError.self, sourceLocation: sourceLocation) {
      try self(storage)
    }
    let time = ContinuousClock.now - start
    #expect(time < limit, "\(self)", sourceLocation: sourceLocation)
    guard let error else { return nil }
    #expect(error.code == code, "\(self): \(error)", sourceLocation: sourceLocation)
    #expect(error.operation == operation, "\(error)", sourceLocation: sourceLocation)
    #expect(error.backendName == storage.backendName, sourceLocation: sourceLocation)
    #expect(
      error.message.hasSuffix(".") || error.underlying != nil, "\(error)",
      sourceLocation: sourceLocation)
    #expect(
      error.recoverySuggestion?.isEmpty == false, "\(error)", sourceLocation: sourceLocation)
    for words in [cause, recoverySuggestion] where !words.isEmpty {
      #expect(error.description.contains(words), "\(error)", sourceLocation: sourceLocation)
    }
    return error
  }
}

extension Sequence<StorageUse> {
  /// Expects that each use fails in time, with such an error.
  func expectFailures(
    _ code: SecureStorageError.Code, _ storage: SecretServiceStorage, cause: String = "",
    recoverySuggestion: String = "", sourceLocation: SourceLocation = #_sourceLocation
  ) {
    for use in self {
      use.expectFailure(
        code, storage, cause: cause, recoverySuggestion: recoverySuggestion,
        sourceLocation: sourceLocation)
    }
  }
}

extension SecretServiceStorage {
  /// Reads the secret under a key of any kind as text.
  func text(of key: ItemKey) throws -> String? {
    try item(for: key, details: .secret)?.secret?.text
  }

  /// Stores text under a key of any kind.
  func save(_ text: String, _ key: ItemKey, _ mode: SaveMode = .addOrReplace) throws {
    try save(SecureItem(key: key, secret: Secret(text)), mode: mode)
  }

  /// Expects that no other storage takes the place of this one, which fails.
  func expectNoOtherSelection(_ code: SecureStorageError.Code) throws {
    let file = InMemoryStorage()
    expectError(code) {
      try FirstAvailableStorage([self, file]).setPassword("s3cret", for: StorageUse.key)
    }
    #expect(try !file.exists(StorageUse.key))
  }
}
#endif
