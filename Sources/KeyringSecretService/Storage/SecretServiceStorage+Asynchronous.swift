// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
public import KeyringStorage

extension SecretServiceStorage {
  /// Stores an item under its key, waiting for the keyring on the thread that all asynchronous calls share.
  public func saveWithoutBlocking(
    _ item: SecureItem, mode: SaveMode
  ) async throws(SecureStorageError) {
    try validate(item)
    defer { noteWrite(of: item.key) }
    try await CallLoop.run { () async throws(SecureStorageError) in
      try await store(item, mode: mode)
    }
  }

  /// Finds items, newest first, waiting for the keyring on the thread that all asynchronous calls share.
  public nonisolated(nonsending) func itemsWithoutBlocking(
    matching query: ItemQuery
  ) async throws(SecureStorageError) -> [SecureItem] {
    try validate(query, for: .read)
    if let key = query.key, query.asksForKeyOnly, query.allowsUnlocking {
      return try await itemsWithoutBlocking(for: [key], details: query.details).map(\.value)
    }
    return try await CallLoop.run { () async throws(SecureStorageError) in try await find(query) }
  }

  /// Finds the items stored under keys, waiting on the thread that all asynchronous calls share.
  ///
  /// Reads that you start while others are in progress are sent together.
  public nonisolated(nonsending) func itemsWithoutBlocking(
    for keys: [ItemKey], details: ItemQuery.Details
  ) async throws(SecureStorageError) -> [ItemKey: SecureItem] {
    for key in keys { try validate(.key(key, details: details), for: .read) }
    let keys = Array(Set(keys))
    if keys.isEmpty { return [:] }
    if ThreadExecutor.current?.isSynchronous != true {
      return try await ReadQueue.shared.items(for: keys, details, in: self)
    }
    return try { () throws(SecureStorageError) in try items(for: keys, details: details) }()
  }

  /// Removes items for good, waiting for the keyring on the thread that all asynchronous calls share.
  public func removeItemsWithoutBlocking(
    matching query: ItemQuery
  ) async throws(SecureStorageError) -> Int {
    try validate(query, for: .remove)
    defer { noteWrite(of: query.key) }
    return try await CallLoop.run { () async throws(SecureStorageError) in try await remove(query) }
  }

  /// Finds out whether the keyring works in this environment, waiting on the library's own threads.
  public func diagnoseWithoutBlocking(
    writing: Bool
  ) async throws(SecureStorageError) -> StorageDiagnosis {
    let examination = await CallLoop.run { await examined() }
    // A cancelled call says nothing about the storage.
    try checkCancellation(.diagnose)
    guard writing else { return examination.diagnosis }
    let diagnosis = try await blocking(.diagnose) { () throws(SecureStorageError) in
      var examination = examination
      examination.addWriting()
      return examination.diagnosis
    }
    try checkCancellation(.diagnose)
    return diagnosis
  }

  /// Locks the collection for every program, waiting for the keyring on the library's own thread.
  public func lockWithoutBlocking() async throws(SecureStorageError) {
    defer { noteWrite(of: nil) }
    try await CallLoop.run(lockCollection)
  }

  /// Unlocks the collection for every program, waiting for the user on the library's own thread.
  public func unlockWithoutBlocking() async throws(SecureStorageError) {
    try await CallLoop.run(unlockCollection)
  }

  /// Returns `true` if the collection is locked, waiting for the keyring on the library's own thread.
  public func isLockedWithoutBlocking() async throws(SecureStorageError) -> Bool {
    try await CallLoop.run(isCollectionLocked)
  }
}
#endif
