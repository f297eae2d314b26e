// SPDX-License-Identifier: Apache-2.0

#if Sealing
public import KeyringStorage

extension KeySource {
  /// Creates a source from an item of another storage, such as a keyring.
  ///
  /// The first encryption creates a missing item, with 32 random bytes.
  ///
  /// - Parameters:
  ///   - storage: The other storage. Its errors are thrown unchanged.
  ///   - key: The key of the item, which must have at least 32 bytes.
  /// - Returns: The source.
  public static func storage(_ storage: any SecureStorage, key: ItemKey) -> KeySource {
    KeySource(.storage, storage: storage, createsKey: true) {
      (request) async throws(SecureStorageError) in
      try await StoredKey(storage: storage, key: key, request: request).key()
    }
  }
}

/// A key in another storage.
private struct StoredKey {
  let storage: any SecureStorage
  let key: ItemKey
  let request: KeyRequest

  func key() async throws(SecureStorageError) -> Secret {
    let secret =
      request.purpose == .inspection ? try await look() : try await storage.secret(for: key)
    if let secret { return secret }
    if request.purpose == .creation {
      try await makeUnlessPresent()
      // Read the key again: if two processes save a key at the same time, the later one wins.
      if let secret = try await storage.secret(for: key) { return secret }
    }
    throw request.error(
      .keyNotFound, "\(storage.backendName) has no key for the \(request.subject).",
      recoverySuggestion: "Restore the item \(key). Nothing can be decrypted without it.")
  }

  /// Reads the key of an unlocked item.
  private func look() async throws(SecureStorageError) -> Secret? {
    var query = ItemQuery.key(key, details: .secret)
    query.allowsUnlocking = false
    let item = try await storage.items(matching: query).first
    if let secret = item?.secret { return secret }
    // Not every storage lists locked items.
    let isLocked =
      item != nil ? true : try await (storage as? any LockableStorage)?.isLocked()
    if isLocked == true {
      throw request.error(.locked, "The key of the \(request.subject) is locked.")
    }
    return nil
  }

  private func makeUnlessPresent() async throws(SecureStorageError) {
    do throws(SecureStorageError) {
      try await storage.save(SecureItem(key: key, secret: .randomKey()), mode: .add)
    } catch {
      if error.code != .itemAlreadyExists { throw error }
    }
  }
}
#endif
