// SPDX-License-Identifier: Apache-2.0

internal import KeyringRuntime

extension SecureStorage {
  /// Finds out whether the storage works here.
  ///
  /// It changes nothing, and asks the user nothing. The error of a storage is the ``StorageDiagnosis/failure`` of
  /// the diagnosis.
  ///
  /// ```swift
  /// let diagnosis = storage.diagnose()
  /// if let failure = diagnosis.failure { print(failure.recoverySuggestion ?? "") }
  /// ```
  ///
  /// - Returns: The findings.
  public func diagnose() -> StorageDiagnosis { diagnose(writing: false) }

  /// Finds out whether the storage works here, suspending the task.
  ///
  /// - Parameter writing: Whether to store, read and remove an item as a test.
  /// - Returns: The findings.
  /// - Throws: `.canceled`, in place of findings.
  public nonisolated(nonsending) func diagnose(writing: Bool = false)
    async throws(SecureStorageError) -> StorageDiagnosis
  {
    try await diagnoseWithoutBlocking(writing: writing)
  }

  /// Runs a diagnosis for a task.
  package nonisolated(nonsending) func diagnosing(
    writing: Bool, _ body: @escaping @Sendable () -> StorageDiagnosis
  ) async throws(SecureStorageError) -> StorageDiagnosis {
    try await blocking(.diagnose, isAsking: writing) { () throws(SecureStorageError) in
      let diagnosis = body()
      // If the calls were cancelled, their errors say nothing about the storage.
      if Cancellation.isCurrentCancelled { throw error(.canceled, during: .diagnose) }
      return diagnosis
    }
  }

  /// Finds out whether the storage can be read, and if you ask for it, written.
  ///
  /// This is the default diagnosis.
  ///
  /// - Parameter writing: Whether to store, read and remove an item as a test.
  /// - Returns: The findings.
  public func diagnose(writing: Bool) -> StorageDiagnosis { diagnosisByUse(writing: writing) }

  /// Finds out whether the storage can be read, and if you ask for it, written.
  package func diagnosisByUse(
    writing: Bool, protection: StorageProtection? = nil
  ) -> StorageDiagnosis {
    var diagnosis = StorageDiagnosis(of: backendName)
    do throws(SecureStorageError) {
      var query = ItemQuery.key(.probe())
      query.allowsUnlocking = false
      _ = try items(matching: query)
      if let storage = self as? any LockableStorage, try storage.isLocked() {
        throw error(.locked, during: .diagnose)
      }
      diagnosis.add("reading", "works")
      diagnosis.protection = protection ?? (durability == .temporary ? .memory : .unknown)
    } catch {
      diagnosis.add("reading", error)
    }
    if writing, diagnosis.failure == nil { diagnosis.probeWriting(in: self) }
    return diagnosis
  }
}

// The form of the diagnosis that a storage doesn't write.

extension AsynchronousStorage {
  /// Runs the asynchronous diagnosis to its end on this thread.
  public func diagnose(writing: Bool) -> StorageDiagnosis {
    do throws(SecureStorageError) {
      return try ThreadExecutor.runToEnd { () async throws(SecureStorageError) in
        try await diagnoseWithoutBlocking(writing: writing)
      }
    } catch {
      var diagnosis = StorageDiagnosis(of: backendName)
      diagnosis.add("diagnosis", error)
      return diagnosis
    }
  }

  /// Finds out whether the storage can be read, and if you ask for it, written.
  public nonisolated(nonsending) func diagnoseWithoutBlocking(
    writing: Bool
  ) async throws(SecureStorageError) -> StorageDiagnosis {
    try await diagnosing(writing: writing) { diagnosisByUse(writing: writing) }
  }
}

extension SynchronousStorage {
  /// Runs the synchronous diagnosis for a task.
  public nonisolated(nonsending) func diagnoseWithoutBlocking(
    writing: Bool
  ) async throws(SecureStorageError) -> StorageDiagnosis {
    try await diagnosing(writing: writing) { diagnose(writing: writing) }
  }
}

extension StorageDiagnosis {
  /// Adds a finding about storing, reading and removing an item.
  ///
  /// The item belongs to the service "swift-keyring probe". A ``ReadOnlyStorage`` is left as it is.
  ///
  /// ```swift
  /// if writing { diagnosis.probeWriting(in: self) }
  /// ```
  ///
  /// - Parameter storage: The storage. It must not ask the user unless it's allowed to.
  public mutating func probeWriting(in storage: some SecureStorage) {
    if storage is any ReadOnlyStorage {
      add("writing", "is refused, as this storage is read-only")
      return
    }
    do throws(SecureStorageError) {
      let (isSame, wasThere) = try storage.withProbe { (key, secret) throws(SecureStorageError) in
        try storage.secret(for: key) == secret
      }
      guard isSame, wasThere else {
        throw storage.error(
          .verificationFailed, during: .diagnose,
          recoverySuggestion: "Check the log of the keyring.")
      }
      add("writing", "works: an item was stored, read and removed again")
    } catch {
      add("writing", error)
    }
  }
}

extension SecureStorage {
  /// Stores an item as a test while a closure runs.
  ///
  /// The item is removed in any case: after an error of the closure, a cancellation of the task, or an answer
  /// that was lost. So nothing is left behind.
  ///
  /// - Parameters:
  ///   - key: The key of the item.
  ///   - body: The closure to call with the key and the secret of the item.
  /// - Returns: The closure's result, and `true` if the item was still there when the closure returned.
  /// - Throws: `SecureStorageError` if the item can't be stored or removed, or the error of the closure.
  package func withProbe<Result>(
    _ key: ItemKey = .probe(),
    _ body: (ItemKey, Secret) throws(SecureStorageError) -> Result
  ) throws(SecureStorageError) -> (result: Result, wasThere: Bool) {
    let secret = Secret("a probe")
    var mayBeStored = true
    let result = Swift.Result { () throws(SecureStorageError) in
      do throws(SecureStorageError) {
        try save(SecureItem(key: key, secret: secret), mode: .add)
      } catch {
        // A file whose directory can't be written to the disk is refused after it's in place.
        mayBeStored = [.timedOut, .canceled, .connectionLost, .accessDenied, .other].contains(
          error.code)
        throw error
      }
      return try body(key, secret)
    }
    let removal = Cancellation.$current.withValue(nil) {
      Swift.Result { () throws(SecureStorageError) in
        try mayBeStored ? remove(key) : false
      }
    }
    return (try result.get(), try removal.get())
  }
}

extension ItemKey {
  /// Returns a key that no item has, and that differs each time so that two tests don't collide.
  ///
  /// - Returns: The key.
  package static func probe() -> ItemKey {
    .value(service: "swift-keyring probe", account: .randomToken())
  }

  /// Returns a key that no item has, of the same service or server as another key.
  ///
  /// - Parameter other: The other key.
  /// - Returns: The key.
  package static func probe(like other: ItemKey) -> ItemKey {
    let name = "swift-keyring probe \(String.randomToken())"
    if let service = other.service { return .value(service: service, account: name) }
    var attributes = [AttributeName.user: name]
    attributes[AttributeName.server] = other.attributes[AttributeName.server]
    return ItemKey(kind: other.kind, attributes: attributes)
  }
}
