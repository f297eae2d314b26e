#if SecretService && os(Linux)
import Keyring
import Testing

/// What an app does with a storage, so that a fault can be met by each of them.
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
      if self == .propertyRead {
        #expect(property.wrappedValue == nil)
      } else {
        property.wrappedValue = "s3cret"
      }
      if let failure = property.projectedValue.failure { throw failure }
    }
  }

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

  /// Expects that this fails, in time and with an error that is of use to whoever gets it.
  ///
  /// - Parameters:
  ///   - code: The code of the error.
  ///   - storage: The storage.
  ///   - cause: Words of the error that name the cause.
  ///   - recoverySuggestion: Words of the error that name the next step.
  ///   - limit: How long it may take.
  ///   - sourceLocation: Where this is expected.
  /// - Returns: The error.
  @discardableResult
  func expectFailure(
    _ code: SecureStorageError.Code, _ storage: SecretServiceStorage, cause: String = "",
    recoverySuggestion: String = "", within limit: Duration = .seconds(5),
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
    #expect(error.message.hasSuffix(".") || error.underlying != nil, "\(error)")
    #expect(error.recoverySuggestion?.isEmpty == false, "\(error)")
    for words in [cause, recoverySuggestion] where !words.isEmpty {
      #expect(error.description.contains(words), "\(error)", sourceLocation: sourceLocation)
    }
    return error
  }
}
#endif
