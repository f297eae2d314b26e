// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
internal import KeyringRuntime
internal import KeyringStorage

extension SecretServiceStorage {
  /// The queues of the calls of this process that save under the same key (Decisions/0003).
  static let saves = KeyQueue()

  /// Waits for the other calls of this process that save under a key.
  func waitToSave(
    _ key: ItemKey, for operation: SecureStorageError.Operation
  ) async throws(SecureStorageError) {
    try await join(
      Self.saves, key, until: .now(plus: options.longestOperation), during: operation,
      "Another thread kept saving the same item.")
  }
}
#endif
