// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
internal import KeyringStorage
internal import Synchronization

// A collection without a password may be a text file, which changes some secrets or is destroyed by them. No
// such file changes bytes that aren't UTF-8. Text that it would change is therefore stored as some bytes
// that aren't UTF-8, followed by the text. Everything else is stored as it is, so that other programs can
// read it. Readers go by these bytes alone, so they need no message for the attribute, and they read what
// another program puts in the place of the secret.

extension Secret {
  /// The bytes at the start of the binary form, of which the first never occurs in UTF-8.
  private static let binaryMark: [UInt8] = [0xFF] + Array("swift-keyring".utf8) + [0]

  /// Indicates whether the secret has the binary form, or looks as if it had.
  ///
  /// An empty secret has no binary form.
  var isInBinaryForm: Bool {
    count > Self.binaryMark.count && withUnsafeBytes { $0.starts(with: Self.binaryMark) }
  }

  /// The secret in its binary form.
  var binaryForm: Secret {
    let mark = Self.binaryMark
    return withUnsafeBytes { bytes in
      Secret(capacity: mark.count + bytes.count) { room in
        room.copyBytes(from: mark)
        UnsafeMutableRawBufferPointer(rebasing: room[mark.count...]).copyMemory(from: bytes)
        return room.count
      }
    }
  }

  /// The secret without its binary form, or the secret itself if it doesn't have that form.
  var withoutBinaryForm: Secret {
    isInBinaryForm ? self[Self.binaryMark.count..<count] : self
  }
}

extension Operation {
  /// Decrypts a secret of type `(oayays)`.
  func decode(_ encoded: Variant) -> Secret? { session.decode(encoded)?.withoutBinaryForm }

  /// Returns the bytes that a collection keeps for a secret.
  ///
  /// - Parameters:
  ///   - secret: The secret.
  ///   - collection: The collection.
  ///   - foreignItem: The item of another program whose secret is replaced, if any. The other program
  ///     couldn't read the binary form.
  /// - Returns: The secret, or its binary form.
  /// - Throws: `.invalidArgument` if the item of another program can't keep the secret.
  func storable(
    _ secret: Secret, in collection: ObjectPath, replacingThatOf foreignItem: StoredItem? = nil
  ) async throws(SecureStorageError) -> Secret {
    // Something that looks like the binary form is read as if it were in that form.
    if secret.isInBinaryForm { return secret.binaryForm }
    guard mayNeedBinaryForm(secret), await !isEncrypted(collection) else { return secret }
    guard let foreignItem else { return secret.binaryForm }
    var error = failure(
      .invalidArgument,
      """
      The item "\(foreignItem.label.excerpt)" belongs to another program, and can't keep this text: the keyring \
      may have no password, and then its file changes text with line breaks, backslashes or blanks at the start.
      """,
      recoverySuggestion:
        "Give the keyring a password in your keyring manager, or remove the item and store it again."
    )
    error.argument = "secret"
    throw error
  }

  /// Returns `true` if a secret takes its binary form in some collections.
  func mayNeedBinaryForm(_ secret: Secret) -> Bool {
    secret.isInBinaryForm
      || provider.mayKeepCollectionsAsText && !CollectionFile.textKeeps(secret)
  }

  /// Returns `true` if the file of a collection is encrypted, and `false` if that isn't certain.
  private func isEncrypted(_ collection: ObjectPath) async -> Bool {
    let known = session.collectionFiles.withLock { $0[collection] }
    // The user may have changed the password, which replaces the file.
    if let file = try? known?.refreshed() { return file.content == .encrypted }
    guard let identity = await fileIdentity(of: collection) else { return false }
    let files = CollectionFile.directories.flatMap { (try? CollectionFile.files(in: $0)) ?? [] }
      .filter { $0.isOf(identity) }
    // An alias may stand for another collection the next time.
    if files.count == 1, !collection.isAlias {
      session.collectionFiles.withLock { $0[collection] = files[0] }
    }
    return !files.isEmpty && files.allSatisfy { $0.content == .encrypted }
  }

  /// Returns the name and the times by which the file of a collection is found.
  func fileIdentity(of collection: ObjectPath) async -> CollectionFile.Identity? {
    let alias = collection.isAlias ? [MethodCall.readAlias(String(collection.lastElement))] : []
    // Without an answer, the collection counts as a text file. The next message reports the failure.
    guard
      let results = try? await session.connection.send(
        MethodCall.times(ofCollection: collection) + alias, to: provider.uniqueName,
        until: deadline),
      let answers = try? results.map({ (result) throws(DBusError) in try result.get() }),
      let created = answers[0].property(ofType: "t"), let changed = answers[1].property(ofType: "t")
    else { return nil }
    let path = alias.isEmpty ? collection : ObjectPath(answers[2].child(0).text)
    return CollectionFile.Identity(
      pathElement: path.lastElement,
      times: CollectionFile.Times(created.unsigned, changed.unsigned))
  }
}
#endif
