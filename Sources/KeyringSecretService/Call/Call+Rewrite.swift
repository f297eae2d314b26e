#if SecretService && os(Linux)
internal import KeyringStorage

extension Call {
  /// Replaces in one message what this process has written under the same key a moment ago.
  ///
  /// The keyring looks for the item by its attributes, and makes one where there is none any more.
  ///
  /// - Parameter item: The key and what to store under it.
  /// - Returns: Whether it is stored; otherwise nothing was sent.
  /// - Throws: What kept it from being stored.
  func replaceWritten(by item: SecureItem) throws(SecureStorageError) -> Bool {
    guard let secret = item.secret, item.attributes?.isEmpty ?? true,
      let written = session.itemPlaces.written(item.key, in: options.collection),
      // KeePassXC 2.7.4 asks the user about a replacement, and KWallet 5.103 keeps the old label.
      try isGnomeKeyring()
    else { return false }
    session.itemPlaces.noteWritten(nil, of: item.key)
    let (attributes, label) = (item.key.newAttributes, item.label ?? written.label)
    let path = try createItem(attributes: attributes, label: label, secret: secret)
    if path == written.path {
      noteWritten(item.key, at: path, attributes: attributes, label: label)
      return true
    }
    // It was removed meanwhile, or another program's took its place, which is to be changed then.
    let foreign = try foreignItems(for: item.key)
    if foreign.count == 1, try write([.setSecret(try encode(secret), of: foreign[0].path)]) {
      try remove([path])
    }
    return true
  }

  /// Remembers how an item was written, if another write can do the same to it.
  func noteWritten(
    _ key: ItemKey, at path: ObjectPath, attributes: [String: String], label: String
  ) {
    if !attributes.isExactly(key.newAttributes) { return }
    note(.at(path), of: key)
    session.itemPlaces.noteWritten(
      ItemPlaces.Written(collection: options.collection, path: path, label: label), of: key)
  }
}
#endif
