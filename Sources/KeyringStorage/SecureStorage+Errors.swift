// SPDX-License-Identifier: Apache-2.0

extension SecureStorage {
  /// Returns an error of this storage.
  ///
  /// Use it to implement a storage: it fills in the ``backendName``. In a `catch` block, write
  /// `self.error`, because `error` is the caught error there.
  ///
  /// ```swift
  /// throw error(.itemNotFound, during: .save)
  /// ```
  ///
  /// - Parameters:
  ///   - code: The error code.
  ///   - operation: The operation that fails.
  ///   - message: A sentence that describes the problem. The default is the meaning of the code.
  ///   - recoverySuggestion: A sentence that suggests a solution. The default depends on the code.
  ///   - argument: The name of the invalid argument.
  ///   - underlying: The error that caused this one.
  /// - Returns: The error.
  public func error(
    _ code: SecureStorageError.Code, during operation: SecureStorageError.Operation,
    message: String? = nil, recoverySuggestion: String? = nil, argument: String? = nil,
    underlying: SecureStorageError.Underlying? = nil
  ) -> SecureStorageError {
    SecureStorageError(
      code, operation: operation, backendName: backendName, message: message,
      recoverySuggestion: recoverySuggestion, argument: argument, underlying: underlying)
  }
}
