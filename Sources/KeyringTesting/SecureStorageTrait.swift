// SPDX-License-Identifier: Apache-2.0

public import Keyring
public import KeyringStorage
public import Testing

/// A trait that gives a test, or each test of a suite, its own storage.
///
/// ```swift
/// @Test(.secureStorage(InMemoryStorage())) func `logging out forgets everything`() {
///   settings.authToken = "s3cret"
///   logOut()
///   #expect(settings.authToken == nil)
/// }
/// ```
public struct SecureStorageTrait: TestTrait, SuiteTrait, TestScoping {
  let makeStorage: @Sendable () -> any SecureStorage
  let failureHandler: (@Sendable (SecurePropertyFailure) -> Void)?

  /// Indicates that the trait applies to each test of a suite.
  public var isRecursive: Bool { true }

  /// Runs one test case with a new storage.
  public func provideScope(
    for test: Test, testCase: Test.Case?,
    performing function: @Sendable @concurrent () async throws -> Void
  ) async throws {
    try await withSecureStorage(makeStorage(), failureHandler: failureHandler) {
      try await function()
    }
  }
}

extension Trait where Self == SecureStorageTrait {
  /// Makes secure properties use a new storage for each test and test case.
  ///
  /// ```swift
  /// @Suite(.secureStorage()) struct SignInTests {}
  /// ```
  ///
  /// - Parameters:
  ///   - storage: The storage, which is evaluated again for each test case. The default is an empty
  ///     `InMemoryStorage`.
  ///   - failureHandler: The closure to call for every failed assignment. The default is the handler of the
  ///     suite's trait, or `SecureStorageDefaults.failureHandler`.
  /// - Returns: The trait.
  public static func secureStorage(
    _ storage: @autoclosure @escaping @Sendable () -> any SecureStorage = InMemoryStorage(),
    failureHandler: (@Sendable (SecurePropertyFailure) -> Void)? = nil
  ) -> Self {
    SecureStorageTrait(makeStorage: storage, failureHandler: failureHandler)
  }
}
