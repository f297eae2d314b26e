// SPDX-License-Identifier: Apache-2.0

package import KeyringStorage
package import Testing

/// Expects that a closure throws an error with a code, and possibly an argument and words of its description.
@discardableResult
package func expectError<Result>(
  _ code: SecureStorageError.Code, argument: String? = nil, says words: String...,
  sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Result
) -> SecureStorageError? {
  let error = #expect(throws: SecureStorageError.self, sourceLocation: sourceLocation) {
    _ = try body()
  }
  error?.expect(code, argument, words, sourceLocation)
  return error
}

/// Expects that an asynchronous closure throws such an error.
@discardableResult
package func expectError<Result>(
  _ code: SecureStorageError.Code, argument: String? = nil, says words: String...,
  sourceLocation: SourceLocation = #_sourceLocation, _ body: () async throws -> Result
) async -> SecureStorageError? {
  let error = await #expect(throws: SecureStorageError.self, sourceLocation: sourceLocation) {
    _ = try await body()
  }
  error?.expect(code, argument, words, sourceLocation)
  return error
}

extension SecureStorageError {
  fileprivate func expect(
    _ code: Code, _ argument: String?, _ words: [String], _ sourceLocation: SourceLocation
  ) {
    #expect(self.code == code, "\(self)", sourceLocation: sourceLocation)
    if let argument { #expect(self.argument == argument, sourceLocation: sourceLocation) }
    for text in words {
      #expect(description.contains(text), "\(self)", sourceLocation: sourceLocation)
    }
  }
}
