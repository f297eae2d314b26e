// SPDX-License-Identifier: Apache-2.0

#if Etcd && os(Linux)
import KeyringStorage
import Testing

/// Expects that a closure throws an error with a code, and returns the error.
@discardableResult
func expect(
  _ code: SecureStorageError.Code, sourceLocation: SourceLocation = #_sourceLocation,
  _ body: () async throws -> Void
) async -> SecureStorageError? {
  let error = await #expect(throws: SecureStorageError.self, sourceLocation: sourceLocation) {
    try await body()
  }
  #expect(error?.code == code, sourceLocation: sourceLocation)
  return error
}
#endif
