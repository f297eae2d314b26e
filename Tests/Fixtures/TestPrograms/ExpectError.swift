// SPDX-License-Identifier: Apache-2.0

package import KeyringStorage
package import Testing

/// Expects that a closure throws an error with a code, and returns the error.
@discardableResult
package func expectError<Result>(
  _ code: SecureStorageError.Code, sourceLocation: SourceLocation = #_sourceLocation,
  _ body: () throws -> Result
) -> SecureStorageError? {
  let error = #expect(throws: SecureStorageError.self, sourceLocation: sourceLocation) {
    _ = try body()
  }
  #expect(error?.code == code, sourceLocation: sourceLocation)
  return error
}

/// Expects that an asynchronous closure throws an error with a code, and returns the error.
@discardableResult
package func expectError<Result>(
  _ code: SecureStorageError.Code, sourceLocation: SourceLocation = #_sourceLocation,
  _ body: () async throws -> Result
) async -> SecureStorageError? {
  let error = await #expect(throws: SecureStorageError.self, sourceLocation: sourceLocation) {
    _ = try await body()
  }
  #expect(error?.code == code, sourceLocation: sourceLocation)
  return error
}
