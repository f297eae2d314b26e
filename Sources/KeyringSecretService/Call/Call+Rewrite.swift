#if SecretService && os(Linux)
internal import KeyringStorage

extension Call {
  /// Replaces in one message the secret that this process has written under the same key a moment ago.
  ///
  /// What another program has done to label and attributes since is left alone.
  ///
  /// - Parameter item: The key and what to store under it.
  /// - Returns: Whether it is stored; otherwise it is to be stored as any other.
  /// - Throws: What kept it from being stored.
  func replaceWritten(by item: SecureItem) throws(SecureStorageError) -> Bool {
    guard let secret = item.secret, item.label == nil, item.attributes?.isEmpty ?? true,
      let path = session.itemPlaces.written(item.key, in: options.collection),
      // Others may give the path to another item.
      try isGnomeKeyring()
    else { return false }
    do throws(SecureStorageError) {
      guard try write([.setSecret(try encode(secret), of: path)]) else { return false }
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
