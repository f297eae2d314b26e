#if EncryptedFile
internal import KeyringStorage

/// A key in another storage.
struct StoredKey {
  let storage: any SecureStorage
  let key: ItemKey
  let place: FileLocation

  func key(_ purpose: KeySource.Purpose) throws(SecureStorageError) -> Secret {
    if let secret = try purpose == .looking ? look() : storage.secret(for: key) { return secret }
    if purpose == .new {
      try makeUnlessPresent()
      // Read the key again: if two files get the same key at the same time, the later save wins.
      if let secret = try storage.secret(for: key) { return secret }
    }
    throw SecureStorageError(
      .keyNotFound, place, "\(storage.backendName) has no key for the file \(place.path).",
      recoverySuggestion: "Restore the item \(key). Without it, the file can't be read.")
  }

  /// Reads the key, unless that requires unlocking.
  private func look() throws(SecureStorageError) -> Secret? {
    var query = ItemQuery.key(key, details: .secret)
    query.allowsUnlocking = false
    let item = try storage.items(matching: query).first
    if let secret = item?.secret { return secret }
    // KeePassXC doesn't list locked items.
    let isLocked = item != nil ? true : try (storage as? any LockableStorage)?.isLocked()
    if isLocked == true {
      throw SecureStorageError(.locked, place, "The key of the file \(place.path) is locked.")
    }
    return nil
  }

  private func makeUnlessPresent() throws(SecureStorageError) {
    do throws(SecureStorageError) {
      try storage.save(SecureItem(key: key, secret: KeySource.newKey()), mode: .add)
    } catch {
      if error.code != .itemAlreadyExists { throw error }
    }
  }
}
#endif
