// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
internal import KeyringPlatform
internal import KeyringRuntime
internal import KeyringStorage

extension SecretServiceStorage {
  /// Waits for everything that was saved in the collection to be on the disk.
  ///
  /// Call it before you encrypt something with a new secret. Read the secret afterwards, because a keyring that crashed
  /// meanwhile has lost it.
  ///
  /// ```swift
  /// let storage = SecretServiceStorage()
  /// let key = ItemKey.password(service: "backups", account: "ada")
  /// try storage.setPassword("s3cret", for: key)
  /// try storage.waitUntilWritten()
  /// let password = try storage.password(for: key)
  /// ```
  ///
  /// Some keyrings write only when no program has saved anything for some seconds, and then it takes a minute or more.
  ///
  /// - Throws: `.notObservable` from a keyring that doesn't say when it writes, or another `SecureStorageError`.
  public func waitUntilWritten() throws(SecureStorageError) {
    try ThreadExecutor.runToEnd { () async throws(SecureStorageError) in
      try await waitUntilWritten()
    }
  }

  /// Waits for everything that was saved in the collection to be on the disk, without blocking the task's thread.
  ///
  /// - Throws: The errors of the synchronous overload, or `.canceled`.
  public nonisolated(nonsending) func waitUntilWritten() async throws(SecureStorageError) {
    while let rest = try await timeUntilWritten() {
      let end = await Waiter.wait(until: .now(plus: rest)) { _ in }
      if end != .timedOut { throw error(end, during: .save, "") }
    }
  }

  /// Returns the time after which everything is on the disk unless something is saved, or `nil` if it is now.
  private nonisolated(nonsending) func timeUntilWritten() async throws(SecureStorageError)
    -> Duration?
  {
    try await perform(.save) { (call) async throws(SecureStorageError) in
      func hiddenWrites() -> SecureStorageError {
        call.failure(
          .notObservable, "The keyring doesn't say when it writes to the disk.",
          recoverySuggestion: "Keep what depends on the secret until the keyring was closed once.")
      }
      if call.provider.writesBeforeAnswers { return nil }
      guard let quietTime = call.provider.quietTime else { throw hiddenWrites() }
      let answer = try await call.send([.modified(ofCollection: call.existingCollection())])[0]
      if call.wasQuiet(answer) { return nil }
      let age = answer?.property(ofType: "t").map {
        Date().timeIntervalSince1970 - Double($0.unsigned)
      }
      // If the clock was set back, the time of the last write is in the future.
      guard let age, age > -60 else { throw hiddenWrites() }
      return max(.seconds(1), quietTime + .seconds(1) - .seconds(age))
    }
  }
}
#endif
