#if SecretService && os(Linux)
internal import KeyringStorage

extension Call {
  /// Replaces in one step the secret that this process has written under the same key a moment ago.
  ///
  /// What another program has done to label and attributes since is left alone. A search travels along:
  /// where it finds more than that item, or another, the item is stored as any other.
  ///
  /// - Parameter item: The key and what to store under it.
  /// - Returns: Whether it is stored; otherwise it is to be stored as any other.
  /// - Throws: What kept it from being stored.
  func replaceWritten(by item: SecureItem) throws(SecureStorageError) -> Bool {
    guard let secret = item.secret, secret.count > 0, item.label == nil,
      item.attributes?.isEmpty ?? true,
      let path = session.itemPlaces.written(item.key, in: options.collection),
      session.provider.keepsItemPaths, let collection = try collection()
    else { return false }
    let search = Message.searchItems(in: collection, item.key.attributes)
    do throws(SecureStorageError) {
      let message = Message.setSecret(try encode(secret), of: path)
      guard try write([message], after: search, finding: [path]) else { return false }
    } catch {
      guard error.code == .locked else { throw error }
      return false
    }
    noteWritten(item.key, at: path)
    return true
  }

  /// Remembers where an item of ours was written.
  func noteWritten(_ key: ItemKey, at path: ObjectPath) {
    note(.at(path), of: key)
    session.itemPlaces.noteWritten(true, key, in: options.collection)
  }
}
#endif
