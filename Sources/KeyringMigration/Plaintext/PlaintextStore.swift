// SPDX-License-Identifier: Apache-2.0

internal import KeyringStorage

/// A store that can read and remove plaintext values.
///
/// A path consists of the names on the way to a value.
protocol PlaintextStore: Sendable {
  /// The name of the store in errors.
  var name: String { get }

  /// Reads the values at several paths.
  ///
  /// - Parameter paths: The paths.
  /// - Returns: The value at each path, or `nil` if there is none.
  /// - Throws: `SecureStorageError` if the store can't be read.
  func values(at paths: [[String]]) throws(SecureStorageError) -> [ExternalValue?]

  /// Reads everything that the store has, in its order.
  ///
  /// - Returns: The values and the names under which they're found.
  /// - Throws: `SecureStorageError` for a failed read, or for a store that has no list of its values.
  func entries() throws(SecureStorageError) -> [PlaintextEntry]

  /// Throws an error if no value can be removed.
  func checkIsRemovable() throws(SecureStorageError)

  /// Removes the values at several paths.
  ///
  /// - Parameters:
  ///   - paths: The paths.
  ///   - check: The closure that gets the values right before they're removed. If it throws, they're kept.
  /// - Throws: The error of the check, or `SecureStorageError` if the values can't be removed.
  func remove(
    _ paths: [[String]], after check: ([ExternalValue?]) throws(SecureStorageError) -> Void
  ) throws(SecureStorageError)
}

extension PlaintextStore {
  /// Returns the error for a value or a program that has to be corrected.
  func failure(
    _ code: SecureStorageError.Code, _ operation: SecureStorageError.Operation, _ message: String
  ) -> SecureStorageError {
    SecureStorageError(
      code, operation: operation, backendName: name, message: message,
      recoverySuggestion: "Correct the value or the program, and try again.")
  }
}
