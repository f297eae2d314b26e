#if SecretService && os(Linux)
internal import KeyringStorage

extension Call {
  /// Makes a collection; the keyring asks the user for its password.
  ///
  /// - Parameters:
  ///   - label: The label of the collection.
  ///   - alias: What other name it is to have.
  /// - Returns: The collection.
  /// - Throws: `.locked` when nobody may be asked, `.userCanceled` when the user declined.
  @discardableResult
  func createCollection(
    labeled label: String, aliased alias: String = ""
  ) async throws(SecureStorageError) -> ObjectPath {
    hasWritten = true
    guard let answer = try await send(.createCollection(labeled: label, aliased: alias)) else {
      throw unexpectedAnswer("nothing")
    }
    let path = ObjectPath(answer.child(0).text)
    guard path.isNone else { return path }
    let result = try await self.answer(to: ObjectPath(answer.child(1).text))
    guard result.isOfType("o") else { throw unexpectedAnswer("no collection") }
    return ObjectPath(result.text)
  }

  /// Deletes a collection and all its items.
  func delete(_ collection: ObjectPath) async throws(SecureStorageError) {
    hasWritten = true
    guard let answer = try await send(.delete(collection: collection)) else { return }
    let prompt = ObjectPath(answer.child(0).text)
    if !prompt.isNone { _ = try await self.answer(to: prompt) }
  }

  /// Makes the default collection, where there is none and the user may be asked.
  ///
  /// - Returns: The collection, which another thread may have made.
  /// - Throws: That there is none, or what kept it from being made.
  func newDefaultCollection() async throws(SecureStorageError) -> ObjectPath {
    guard options.collection == .default, options.interaction == .allowed else {
      throw noCollection()
    }
    // Threads that meet here must not ask the user for one collection each.
    let label = "Default keyring"
    let pause = Deadline.Pause()
    return try await storage.withLock(on: .collection(label), .save) {
      () async throws(SecureStorageError) in
      // Another thread may have waited for the user.
      addToDeadline(pause)
      // gnome-keyring's alias may stand for a collection that does not exist.
      if let collection = try await collection(aliased: "default"), try await exists(collection) {
        return collection
      }
      do throws(SecureStorageError) {
        return try await createCollection(labeled: label, aliased: "default")
      } catch {
        // Nobody could be asked: there is none, and nothing to unlock.
        guard error.code == .locked else { throw error }
        throw failure(
          .noDefaultCollection,
          "The keyring has no default collection, and no program shows its question about one.",
          advice: Self.withoutPrompterOrDefault)
      }
    }
  }
}

extension Call {
  private func exists(_ collection: ObjectPath) async throws(SecureStorageError) -> Bool {
    try await send(.label(ofCollection: collection)) != nil
  }
}

extension ItemKey {
  /// Stands for a collection where two threads must not make the same; no item has such a kind.
  static func collection(_ label: String) -> ItemKey {
    ItemKey(kind: ItemKind(rawValue: "collection:"), attributes: [AttributeName.label: label])
  }
}
#endif
