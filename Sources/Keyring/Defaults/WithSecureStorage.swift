// SPDX-License-Identifier: Apache-2.0

public import KeyringStorage

/// Runs a closure in which secure properties use another storage.
///
/// The closure's child tasks use it, too. A property that was declared with a storage keeps that one.
///
/// ```swift
/// withSecureStorage(InMemoryStorage()) {
///   settings.authToken = "a token of the test"
/// }
/// ```
///
/// - Parameters:
///   - storage: The storage to use.
///   - failureHandler: The closure to call for every failed assignment in `operation`. The default is the
///     handler of an outer override, or ``SecureStorageDefaults/failureHandler``.
///   - operation: The closure to run.
/// - Returns: The result of the closure.
/// - Throws: The error of the closure.
@discardableResult
public func withSecureStorage<Result, Failure: Error>(
  _ storage: any SecureStorage,
  failureHandler: (@Sendable (SecurePropertyFailure) -> Void)? = nil,
  operation: () throws(Failure) -> Result
) throws(Failure) -> Result {
  let override = TaskOverride(storage, failureHandler)
  defer { override.end() }
  return try TaskOverride.local.withValue(override) {
    override.begin()
    return Swift.Result(catching: operation)
  }.get()
}

/// Runs an asynchronous closure in which secure properties use another storage.
///
/// ```swift
/// try await withSecureStorage(InMemoryStorage()) {
///   try await settings.$authToken.write("a token of the test")
/// }
/// ```
///
/// - Parameters:
///   - storage: The storage to use.
///   - failureHandler: The closure to call for every failed assignment in `operation`. The default is the
///     handler of an outer override, or ``SecureStorageDefaults/failureHandler``.
///   - operation: The closure to run.
/// - Returns: The result of the closure.
/// - Throws: The error of the closure.
@discardableResult
nonisolated(nonsending)
  public func withSecureStorage<Result, Failure: Error>(
    _ storage: any SecureStorage,
    failureHandler: (@Sendable (SecurePropertyFailure) -> Void)? = nil,
    operation: nonisolated(nonsending) () async throws(Failure) -> Result
  ) async throws(Failure) -> Result
{
  let override = TaskOverride(storage, failureHandler)
  defer { override.end() }
  return try await TaskOverride.local.withValue(override) {
    override.begin()
    do throws(Failure) {
      return Swift.Result<Result, Failure>.success(try await operation())
    } catch {
      return .failure(error)
    }
  }.get()
}
