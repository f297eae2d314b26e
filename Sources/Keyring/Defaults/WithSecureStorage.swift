// SPDX-License-Identifier: Apache-2.0

public import KeyringStorage

/// Runs a closure in which secure properties use another storage.
///
/// The override applies to everything the closure calls, including child tasks, and to nothing else.
/// Overrides can be nested. A property that was declared with its own storage keeps using that storage.
///
/// ```swift
/// withSecureStorage(InMemoryStorage()) {
///   settings.authToken = "a token of the test"
/// }
/// ```
///
/// - Parameters:
///   - storage: The storage to use.
///   - operation: The closure to run.
/// - Returns: The result of the closure.
/// - Throws: The error of the closure.
public func withSecureStorage<Result, Failure: Error>(
  _ storage: any SecureStorage,
  operation: () throws(Failure) -> Result
) throws(Failure) -> Result {
  try SecureStorageDefaults.overriding.withValue(StorageBox(storage)) {
    Swift.Result { () throws(Failure) in try operation() }
  }.get()
}

/// Runs an asynchronous closure in which secure properties use another storage.
///
/// - Parameters:
///   - storage: The storage to use.
///   - operation: The closure to run.
/// - Returns: The result of the closure.
/// - Throws: The error of the closure.
nonisolated(nonsending)
  public func withSecureStorage<Result, Failure: Error>(
    _ storage: any SecureStorage,
    operation: nonisolated(nonsending) () async throws(Failure) -> Result
  ) async throws(Failure) -> Result
{
  try await SecureStorageDefaults.overriding.withValue(StorageBox(storage)) {
    do throws(Failure) {
      return Swift.Result<Result, Failure>.success(try await operation())
    } catch {
      return .failure(error)
    }
  }.get()
}
