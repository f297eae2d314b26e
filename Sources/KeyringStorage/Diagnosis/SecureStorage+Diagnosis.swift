extension SecureStorage {
  /// Finds out whether the storage works here, without changing anything or asking anybody.
  ///
  /// Nothing is thrown: what a storage fails with is what was to be found out, and stands in the
  /// ``StorageDiagnosis/failure``.
  ///
  /// - Returns: The findings.
  public func diagnose() -> StorageDiagnosis { diagnose(writing: false) }

  /// Finds out whether the storage works here, without blocking the task's thread.
  ///
  /// - Parameter writing: Whether an item is stored, read and removed again to see that this works.
  /// - Returns: The findings.
  /// - Throws: `.canceled` when the task is cancelled, as then nothing was found out; nothing else.
  public nonisolated(nonsending) func diagnose(writing: Bool = false)
    async throws(SecureStorageError) -> StorageDiagnosis
  {
    try await diagnoseWithoutBlocking(writing: writing)
  }

  /// Runs the diagnosis that blocks on a thread of the library's own.
  public nonisolated(nonsending) func diagnoseWithoutBlocking(
    writing: Bool
  ) async throws(SecureStorageError) -> StorageDiagnosis {
    try await blocking(.diagnose) { () throws(SecureStorageError) in
      let diagnosis = diagnose(writing: writing)
      // That the calls were cancelled says nothing about the storage.
      if CancellationSignal.isCurrentCancelled {
        throw SecureStorageError(.canceled, operation: .diagnose, backend: backendName)
      }
      return diagnosis
    }
  }

  /// Finds out whether the storage can be read, and written if that is asked for.
  ///
  /// This is what a storage does that leaves the operation out.
  ///
  /// - Parameter writing: Whether an item is stored, read and removed again to see that this works.
  /// - Returns: The findings.
  public func diagnose(writing: Bool) -> StorageDiagnosis {
    var diagnosis = StorageDiagnosis(of: backendName)
    do throws(SecureStorageError) {
      var query = ItemQuery.key(.diagnosisProbe())
      query.unlocks = false
      _ = try items(matching: query)
      if let storage = self as? any LockableStorage, try storage.isLocked() {
        throw SecureStorageError(.locked, operation: .diagnose, backend: backendName)
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
  /// Adds whether an item can be stored, read and removed again.
  ///
  /// The item is of the service "swift-keyring diagnosis". A storage that is read-only by its nature
  /// is not written to.
  ///
  /// - Parameter storage: The storage; it may ask the user only if it is allowed to.
  public mutating func probeWriting(in storage: some SecureStorage) {
    if storage is any ReadOnlyStorage {
      add("writing", "is refused, as this storage is read-only")
      return
    }
    let key = ItemKey.diagnosisProbe()
    do throws(SecureStorageError) {
      let secret = Secret("a probe")
      let found = Result { () throws(SecureStorageError) in
        try storage.save(SecureItem(key: key, secret: secret), .add)
        return try storage.secret(for: key)
      }
      // Also when the task is cancelled by now: nothing is to be left.
      let isRemoved = CancellationSignal.$current.withValue(nil) {
        Result { () throws(SecureStorageError) in
          try found.mayHaveStored ? storage.remove(key) : false
        }
      }
      guard try found.get() == secret, try isRemoved.get() else {
        throw SecureStorageError(
          .verificationFailed, operation: .diagnose, backend: storage.backendName,
          advice: "Look at what the keyring says in its log.")
      }
      add("writing", "works: an item was stored, read and removed again")
    } catch {
      add("writing", error)
    }
  }
}

extension ItemKey {
  /// A key that no item has: one of its own for each diagnosis, so that two do not meet.
  ///
  /// - Returns: The key.
  package static func diagnosisProbe() -> ItemKey {
    .value(
      service: "swift-keyring diagnosis",
      account: String(UInt64.random(in: .min ... .max), radix: 36))
  }
}

extension Result<Secret?, SecureStorageError> {
  /// Whether an item may be there, also where nobody has waited for the answer.
  fileprivate var mayHaveStored: Bool {
    guard case .failure(let error) = self else { return true }
    return error.operation == .read
      || [.timedOut, .canceled, .connectionLost].contains(error.code)
  }
}
