#if EncryptedFile
internal import KeyringStorage

/// A key that another storage keeps.
struct StoredKey {
  let storage: any SecureStorage
  let key: ItemKey
  let place: FilePlace

  func key(_ purpose: KeySource.Purpose) throws(SecureStorageError) -> Secret {
    if let secret = try purpose == .looking ? look() : storage.secret(for: key) { return secret }
    if purpose == .new {
      try makeUnlessPresent()
      // Read again: of two files that are given the same key at once, the later has the say.
      if let secret = try storage.secret(for: key) { return secret }
    }
    throw SecureStorageError(
      .keyNotFound, place, "\(storage.backendName) has no key for the file \(place.path).",
      advice: "Bring back the item \(key), or the file cannot be read again.")
  }

  /// Reads the key, unless it would have to be unlocked.
  private func look() throws(SecureStorageError) -> Secret? {
    var query = ItemQuery.key(key, details: .secret)
    query.unlocks = false
    let item = try storage.items(matching: query).first
    if let secret = item?.secret { return secret }
    // KeePassXC does not list what it has locked.
    let isLocked = item != nil ? true : try (storage as? any LockableStorage)?.isLocked()
    if isLocked == true {
      throw SecureStorageError(.locked, place, "The key of the file \(place.path) is locked.")
    }
    return nil
  }

  private func makeUnlessPresent() throws(SecureStorageError) {
    do throws(SecureStorageError) {
      try storage.save(SecureItem(key: key, secret: KeySource.newKey()), .add)
    } catch {
      if error.code != .itemAlreadyExists { throw error }
    }
  }
}
#endif
