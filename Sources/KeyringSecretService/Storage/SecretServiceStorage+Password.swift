// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
internal import KeyringRuntime
public import KeyringStorage

extension SecretServiceStorage {
  /// Unlocks the collection for every program, with its password.
  ///
  /// ```swift
  /// let password = try Secret.typed(atPrompt: "Password of the keyring: ")
  /// try SecretServiceStorage().unlock(password: password)
  /// ```
  ///
  /// A keyring without a default collection gets one with this password.
  ///
  /// - Parameter password: The password, which is only sent encrypted.
  /// - Throws: `.wrongKey` for a wrong password, `.locked` from a keyring that takes none from a program, or
  ///   another `SecureStorageError`.
  public func unlock(password: Secret) throws(SecureStorageError) {
    try ThreadExecutor.runToEnd { () async throws(SecureStorageError) in
      try await unlock(password: password)
    }
  }

  /// Unlocks the collection for every program, with its password, without blocking the task's thread.
  ///
  /// - Parameter password: The password, which is only sent encrypted.
  /// - Throws: The errors of the synchronous overload, or `.canceled`.
  public nonisolated(nonsending) func unlock(password: Secret) async throws(SecureStorageError) {
    try await unlock(with: password)
  }

  /// Unlocks the collection with a password, or as the interaction allows.
  nonisolated(nonsending) func unlock(with password: Secret?) async throws(SecureStorageError) {
    try await perform(.unlock) { (call) async throws(SecureStorageError) in
      do throws(SecureStorageError) {
        let collection = try await call.lockableCollection()
        guard try await call.isLocked(collection) else { return }
        if let password {
          try await call.unlock(collection, password: password)
        } else {
          try await call.unlock([collection])
        }
      } catch {
        guard error.code == .noDefaultCollection,
          password != nil || options.interaction == .terminal
        else { throw error }
        try await call.newDefaultCollection(password: password)
      }
    }
  }
}
#endif
