// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
public import KeyringStorage

extension SecretServiceStorage: LockableStorage {
  /// Locks the collection for every program.
  ///
  /// The error is `.other` if the keyring reports success and the collection is still unlocked. Some keyrings
  /// do that with the session collection.
  @concurrent public func lockWithoutBlocking() async throws(SecureStorageError) {
    defer { ChangeMonitor.noteWrite(of: nil, at: options.busAddress) }
    try await perform(.lock) { (call) async throws(SecureStorageError) in
      try await call.lock(call.lockableCollection())
    }
  }

  /// Unlocks the collection for every program.
  ///
  /// The keyring may ask the user for its password. The error is `.locked` if the user can't be asked. With the
  /// interaction ``Interaction/terminal``, the default collection is created if there is none.
  public func unlockWithoutBlocking() async throws(SecureStorageError) {
    try await unlock(with: nil)
  }

  /// Returns `true` if the collection is locked.
  public func isLockedWithoutBlocking() async throws(SecureStorageError) -> Bool {
    try await perform(.read) { (call) async throws(SecureStorageError) in
      let collection =
        try await call.choosesCollection ? call.lockableCollection() : call.existingCollection()
      return try await call.isLocked(collection)
    }
  }
}

extension SecretServiceStorage: CollectionStorage {
  /// Returns the storage for a collection, with the other options of this storage.
  ///
  /// ```swift
  /// let work = SecretServiceStorage(interaction: .never).collection(labeled: "Work")
  /// ```
  public func collection(labeled label: String) -> SecretServiceStorage {
    var options = options
    options.collection = .named(label)
    return SecretServiceStorage(options: options)
  }

  /// Returns the collections, in the order in which the keyring lists them.
  public func collectionsWithoutBlocking() async throws(SecureStorageError) -> [ItemCollection] {
    try await perform(.read) { (call) async throws(SecureStorageError) in
      let listed = try await call.labeledCollections()
      let defaultPath = try await call.path(of: .default)
      var collections: [ItemCollection] = []
      for (path, label) in listed {
        // A collection that vanished in the meantime is left out.
        guard let isLocked = try await call.lockState(of: path) else { continue }
        collections.append(
          ItemCollection(label: label, isLocked: isLocked, isDefault: path == defaultPath))
      }
      return collections
    }
  }

  /// Creates a collection, for which the keyring may ask the user for a password.
  ///
  /// The error is `.locked` if it can't ask, and `.verificationFailed` if the collection gets another
  /// label.
  public func createCollectionWithoutBlocking(
    labeled label: String
  ) async throws(SecureStorageError) -> SecretServiceStorage {
    try validate(collectionLabel: label, for: .createCollection)
    try await perform(.createCollection, lockedOn: .collection(label), mayRepeatWrites: false) {
      (call) async throws(SecureStorageError) in
      try await call.createNewCollection(labeled: label)
    }
    return collection(labeled: label)
  }

  /// Deletes a collection and all of its items permanently.
  @concurrent public func deleteCollectionWithoutBlocking(
    labeled label: String
  ) async throws(SecureStorageError) -> Bool {
    defer { ChangeMonitor.noteWrite(of: nil, at: options.busAddress) }
    // Don't try twice, because another collection may have the same label.
    return try await perform(.deleteCollection, mayRepeatWrites: false) {
      (call) async throws(SecureStorageError) in
      guard let collection = try await call.collectionToDelete(labeled: label) else { return false }
      try await call.delete(collection)
      return true
    }
  }

  /// Returns `true` if every program uses this collection: the default one, or the session's.
  public func isSharedCollectionWithoutBlocking() async throws(SecureStorageError) -> Bool {
    if options.collection.alias != nil { return true }
    return try await perform(.read) { (call) async throws(SecureStorageError) in
      guard let own = try await call.collection() else { return false }
      // If the default collection changes by itself, the collection that stands for it counts.
      if !call.provider.keepsDefaultCollection {
        return try await call.path(of: .default) == own
      }
      for alias in ["default", "session"] where try await call.collection(aliased: alias) == own {
        return true
      }
      return false
    }
  }
}
#endif
