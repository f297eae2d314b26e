public import Keyring
public import Testing

/// Gives a test, or each test of a suite, a storage of its own.
///
/// ```swift
/// @Test(.secureStorage(InMemoryStorage())) func logoutForgetsEverything() {
///   settings.authToken = "s3cret"
///   logOut()
///   #expect(settings.authToken == nil)
/// }
/// ```
public struct SecureStorageTrait: TestTrait, SuiteTrait, TestScoping {
  private let makeStorage: @Sendable () -> any SecureStorage

  init(_ makeStorage: @escaping @Sendable () -> any SecureStorage) {
    self.makeStorage = makeStorage
  }

  /// On a suite, the trait applies to each of its tests.
  public var isRecursive: Bool { true }

  /// Runs one test case with a new storage.
  ///
  /// - Parameters:
  ///   - test: The test.
  ///   - testCase: The case of the test.
  ///   - function: What to run.
  /// - Throws: What the test threw.
  public func provideScope(
    for test: Test, testCase: Test.Case?,
    performing function: @Sendable @concurrent () async throws -> Void
  ) async throws {
    try await withSecureStorage(makeStorage()) { try await function() }
  }
}

extension Trait where Self == SecureStorageTrait {
  /// Makes secure properties use a storage of the test's own, fresh for every test and test case.
  ///
  /// - Parameter storage: Evaluated again for each; by default an empty `InMemoryStorage`.
  /// - Returns: The trait.
  public static func secureStorage(
    _ storage: @autoclosure @escaping @Sendable () -> any SecureStorage = InMemoryStorage()
  ) -> Self {
    SecureStorageTrait(storage)
  }
}
