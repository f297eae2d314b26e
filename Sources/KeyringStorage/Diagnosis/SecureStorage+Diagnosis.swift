// SPDX-License-Identifier: Apache-2.0

extension SecureStorage {
  /// Finds out whether the storage works here, without changing anything and without a prompt.
  ///
  /// This method doesn't throw. The error of a storage is the ``StorageDiagnosis/failure`` of the
  /// diagnosis.
  ///
  /// - Returns: The findings.
  public func diagnose() -> StorageDiagnosis { diagnose(writing: false) }

  /// Finds out whether the storage works here, without blocking the task's thread.
  ///
  /// - Parameter writing: A Boolean value that indicates whether to store, read and remove an item as a
  ///   test.
  /// - Returns: The findings.
  /// - Throws: Only `.canceled`, if the task is cancelled, because there are no findings then.
  public nonisolated(nonsending) func diagnose(writing: Bool = false)
    async throws(SecureStorageError) -> StorageDiagnosis
  {
    try await diagnoseWithoutBlocking(writing: writing)
  }

  /// Runs the synchronous diagnosis on a thread of the library's thread pool.
  public nonisolated(nonsending) func diagnoseWithoutBlocking(
    writing: Bool
  ) async throws(SecureStorageError) -> StorageDiagnosis {
    try await blocking(.diagnose) { () throws(SecureStorageError) in
      let diagnosis = diagnose(writing: writing)
      // If the calls were cancelled, their errors say nothing about the storage.
      if CancellationSignal.isCurrentCancelled { throw error(.canceled, during: .diagnose) }
      return diagnosis
    }
  }

  /// Runs the asynchronous diagnosis to its end on this thread.
  ///
  /// - Parameters:
  ///   - writing: A Boolean value that indicates whether to store, read and remove an item as a test.
  ///   - subject: The subject of the entry if the call is cancelled.
  ///   - name: The name of the storage.
  /// - Returns: The findings.
  package func diagnosisToEnd(
    writing: Bool, _ subject: String, of name: String
  ) -> StorageDiagnosis {
    do throws(SecureStorageError) {
      return try ThreadExecutor.runToEnd { () async throws(SecureStorageError) in
        try await diagnoseWithoutBlocking(writing: writing)
      }
    } catch {
      var diagnosis = StorageDiagnosis(of: name)
      diagnosis.add(subject, error)
      return diagnosis
    }
  }

  /// Finds out whether the storage can be read, and written if you ask for it.
  ///
  /// This is the diagnosis of a storage that doesn't implement its own.
  ///
  /// - Parameter writing: A Boolean value that indicates whether to store, read and remove an item as a
  ///   test.
  /// - Returns: The findings.
  public func diagnose(writing: Bool) -> StorageDiagnosis {
    var diagnosis = StorageDiagnosis(of: backendName)
    do throws(SecureStorageError) {
      var query = ItemQuery.key(.diagnosisProbe())
      query.allowsUnlocking = false
      _ = try items(matching: query)
      if let storage = self as? any LockableStorage, try storage.isLocked() {
        throw error(.locked, during: .diagnose)
      }
      diagnosis.add("reading", "works")
    } catch {
      diagnosis.add("reading", error)
    }
    if writing, diagnosis.failure == nil { diagnosis.probeWriting(in: self) }
    return diagnosis
  }
}

extension StorageDiagnosis {
  /// Adds a finding about storing, reading and removing an item.
  ///
  /// The item belongs to the service "swift-keyring diagnosis". Nothing is written to a
  /// ``ReadOnlyStorage``.
  ///
  /// - Parameter storage: The storage. It must not ask the user unless it's allowed to.
  public mutating func probeWriting(in storage: some SecureStorage) {
    if storage is any ReadOnlyStorage {
      add("writing", "is refused, as this storage is read-only")
      return
    }
    let key = ItemKey.diagnosisProbe()
    do throws(SecureStorageError) {
      let secret = Secret("a probe")
      let found = Result { () throws(SecureStorageError) in
        try storage.save(SecureItem(key: key, secret: secret), mode: .add)
        return try storage.secret(for: key)
      }
      // Remove the item even if the task is cancelled by now, so that nothing is left behind.
      let isRemoved = CancellationSignal.$current.withValue(nil) {
        Result { () throws(SecureStorageError) in
          try found.mayHaveStored ? storage.remove(key) : false
        }
      }
      guard try found.get() == secret, try isRemoved.get() else {
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

extension ItemKey {
  /// Returns a key that no item has, and that differs for each diagnosis so that two don't collide.
  ///
  /// - Returns: The key.
  package static func diagnosisProbe() -> ItemKey {
    .value(service: "swift-keyring diagnosis", account: .randomToken())
  }
}

extension Result<Secret?, SecureStorageError> {
  /// Indicates whether an item may be stored, even if the call ended before the answer arrived.
  fileprivate var mayHaveStored: Bool {
    guard case .failure(let error) = self else { return true }
    return error.operation == .read
      || [.timedOut, .canceled, .connectionLost].contains(error.code)
  }
}
