// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
internal import KeyringStorage

extension Operation {
  /// Creates a collection.
  ///
  /// The keyring asks the user for the collection's password, or this program asks at its terminal.
  ///
  /// - Parameters:
  ///   - label: The label of the collection.
  ///   - alias: The alias of the collection, or an empty string for none.
  ///   - password: The password, or `nil` to ask for one.
  /// - Returns: The collection.
  /// - Throws: `.locked` where the user can't be asked, `.userCanceled` after the user declined.
  @discardableResult
  func createCollection(
    labeled label: String, aliased alias: String = "", password: Secret? = nil
  ) async throws(SecureStorageError) -> ObjectPath {
    var password = password
    if password == nil, options.interaction == .terminal {
      password = try await typedPassword(ofNewCollection: label)
    }
    if let password {
      return try await createCollectionWithoutPrompt(
        labeled: label, aliased: alias, password: password)
    }
    hasWritten = true
    guard let answer = try await send(.createCollection(labeled: label, aliased: alias)) else {
      throw unexpectedAnswer("with nothing")
    }
    return try await created(answer, "collection")
  }

  /// Creates a collection that can be found by its label, or none.
  ///
  /// - Parameter label: The label.
  /// - Throws: `.collectionAlreadyExists` if there is such a collection, `.invalidArgument` from a provider that may lose
  ///   a collection with this label, `.verificationFailed` if it gives the collection another one.
  func createNewCollection(labeled label: String) async throws(SecureStorageError) {
    if provider.mayNameFilesAfterLabels, label.utf8.contains(UInt8(ascii: "/")) {
      throw failure(
        .invalidArgument, "The argument \"label\" must not contain \"/\" with this keyring.",
        argument: "label")
    }
    let others = try await labeledCollections()
    let inAnyCase = provider.mayNameFilesAfterLabels
    if others.collection(labeled: label, inAnyCase: inAnyCase) != nil {
      throw failure(.collectionAlreadyExists)
    }
    let new = try await createCollection(labeled: label)
    if provider.keepsCollectionLabels { return }
    let given = try await send(.label(ofCollection: new))?.property(ofType: "s")?.text
    guard let given, [(new, given)].collection(labeled: label, inAnyCase: inAnyCase) == nil else {
      return
    }
    // A collection that was there before, or has items, is another program's.
    if !others.contains(where: { $0.path == new }),
      try await send(.items(of: new))?.property(ofType: "ao")?.paths.isEmpty == true
    {
      try? await delete(new)
    }
    throw failure(
      .verificationFailed,
      "The keyring gave the collection the label \"\(given.excerpt)\", and not \"\(label)\".",
      recoverySuggestion: "Choose another label.")
  }

  /// Finds the collection with a label, which is to be deleted.
  ///
  /// - Parameter label: The label.
  /// - Returns: The collection, or `nil`.
  /// - Throws: `.collectionNotFound` for one whose label has other capitals. It may be another program's.
  func collectionToDelete(labeled label: String) async throws(SecureStorageError) -> ObjectPath? {
    let listed = try await labeledCollections()
    let found = listed.collection(labeled: label, inAnyCase: provider.mayNameFilesAfterLabels)
    guard let found, !found.label.hasSameBytes(label) else { return found?.path }
    throw failure(
      .collectionNotFound,
      "The keyring has the collection \"\(found.label.excerpt)\", and none with the label \"\(label)\".",
      recoverySuggestion: "Use exactly that label to delete it.")
  }

  /// Deletes a collection and all its items.
  func delete(_ collection: ObjectPath) async throws(SecureStorageError) {
    hasWritten = true
    if let answer = try await send(.delete(collection: collection)) {
      try await finish(answer.child(0))
    }
  }

  /// Creates the default collection if there is none, and its password is given or the user may be asked.
  ///
  /// - Parameter password: The password, or `nil` to ask for one.
  /// - Returns: The collection, which another thread may have created.
  /// - Throws: The reason why there is no default collection, and none can be created.
  @discardableResult
  func newDefaultCollection(
    password: Secret? = nil
  ) async throws(SecureStorageError) -> ObjectPath {
    guard options.collection == .default, options.interaction != .never || password != nil else {
      throw noCollection()
    }
    // Threads that get here at the same time must not each ask the user for a collection.
    let label = "Default keyring"
    let pause = Deadline.Pause()
    try await storage.waitToSave(.collection(label), for: .save)
    defer { SecretServiceStorage.saves.leave(.collection(label)) }
    // Another thread may have waited for the user in the meantime. That time doesn't count.
    deadline.add(pause)
    // An alias may stand for a collection that doesn't exist.
    if let collection = try await collection(aliased: "default"),
      try await send(.label(ofCollection: collection)) != nil
    {
      return collection
    }
    try await HiddenCollections(call: self).refuseUnlistedFile()
    do throws(SecureStorageError) {
      return try await createCollection(labeled: label, aliased: "default", password: password)
    } catch {
      // The user couldn't be asked. There is no default collection, so there is nothing to unlock.
      guard error.code == .locked else { throw error }
      if options.interaction == .terminal || password != nil {
        throw failure(
          .noDefaultCollection, "The keyring has no default collection. \(error.message)",
          recoverySuggestion: error.recoverySuggestion, underlying: error.underlying)
      }
      throw failure(
        .noDefaultCollection,
        "The keyring has no default collection, and no program shows its prompt for one.",
        recoverySuggestion: Provider.withoutPrompterOrDefault)
    }
  }
}

extension ItemKey {
  /// Returns a key for a collection, which keeps two threads from creating the same one.
  ///
  /// No item is of this kind.
  static func collection(_ label: String) -> ItemKey {
    // Labels that differ only in capitals may be those of one collection.
    ItemKey(
      kind: ItemKind(rawValue: "collection:"),
      attributes: [AttributeName.label: label.lowercased()])
  }
}
#endif
