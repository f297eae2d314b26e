// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
internal import KeyringRuntime

extension ItemWriter {
  /// Returns the bytes that a collection keeps for a secret.
  ///
  /// - Parameters:
  ///   - secret: The secret.
  ///   - collection: The collection.
  ///   - foreignItem: The item of another program whose secret is replaced, if any. The other program
  ///     couldn't read the binary form.
  /// - Returns: The secret, or its binary form.
  /// - Throws: `.invalidArgument` for another program's item that can't keep the secret.
  func storable(
    _ secret: Secret, in collection: ObjectPath, replacingThatOf foreignItem: StoredItem? = nil
  ) async throws(SecureStorageError) -> Secret {
    // Something that looks like the binary form is read as if it were in that form.
    if secret.isInBinaryForm { return secret.binaryForm }
    guard mayNeedBinaryForm(secret), await !isEncrypted(collection) else { return secret }
    guard let foreignItem else { return secret.binaryForm }
    throw call.failure(
      .invalidArgument,
      """
      The item "\(foreignItem.label.excerpt)" belongs to another program, and can't keep this text: the keyring \
      may have no password, and then its file changes text with line breaks, backslashes or blanks at the start.
      """,
      recoverySuggestion:
        "Give the keyring a password in your keyring manager, or remove the item and store it again.",
      argument: "secret")
  }

  /// Returns `true` for a secret that takes its binary form in some collections.
  func mayNeedBinaryForm(_ secret: Secret) -> Bool {
    secret.isInBinaryForm
      || call.provider.mayKeepCollectionsAsText && !CollectionFile.textKeeps(secret)
  }

  /// Returns `true` for a collection whose file is certainly encrypted.
  private func isEncrypted(_ collection: ObjectPath) async -> Bool {
    let known = call.session.collectionFiles[collection]
    // The user may have changed the password, which replaces the file.
    if let file = try? known?.refreshed() { return file.content == .encrypted }
    let files = await HiddenCollections(call: call).files(of: collection)
    // An alias may stand for another collection the next time.
    if files.count == 1, !collection.isAlias {
      call.session.collectionFiles[collection] = files[0]
    }
    return !files.isEmpty && files.allSatisfy { $0.content == .encrypted }
  }
}
#endif
