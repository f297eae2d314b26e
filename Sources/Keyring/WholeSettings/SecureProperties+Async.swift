public import KeyringStorage

// The asynchronous overloads: they never block the task's thread, and end when the task is cancelled.

extension SecureProperties {
  /// Reads all properties: those that have no storage of their own in one search and one fetch.
  ///
  /// - Returns: The values.
  /// - Throws: The same errors as the synchronous form, or `.canceled` if the task is cancelled.
  public nonisolated(nonsending) func readAll() async throws(SecureStorageError) -> SecureValues {
    var values = SecureValues()
    for part in parts {
      values.add(try await part.storage.items(for: part.keys, details: part.details), to: part)
    }
    return values
  }

  /// Removes all items, those that can be even when others cannot.
  ///
  /// - Returns: The number of items that were removed.
  /// - Throws: The same errors as the synchronous form, or `.canceled` if the task is cancelled.
  @discardableResult
  public nonisolated(nonsending) func removeAll() async throws(SecureStorageError) -> Int {
    var count = 0
    var failure: SecureStorageError?
    for member in resolved.members {
      do throws(SecureStorageError) {
        if try await member.removeWithoutBlocking() { count += 1 }
      } catch {
        failure = failure ?? error
      }
    }
    if let failure { throw failure }
    return count
  }

  /// Copies all items to another storage, under the same keys, with label and attributes.
  ///
  /// - Parameters:
  ///   - storage: Where to.
  ///   - mode: What to do about an item that is there already; with `.add` the copy stops at it.
  /// - Returns: How many items were copied.
  /// - Throws: The same errors as the synchronous form, or `.canceled` if the task is cancelled.
  @discardableResult
  public nonisolated(nonsending) func copy(
    to storage: any SecureStorage, _ mode: SaveMode = .addOrReplace
  ) async throws(SecureStorageError) -> Int {
    var items: [SecureItem] = []
    for part in parts {
      let found = try await part.storage.items(for: part.keys, details: .all)
      items += part.keys.compactMap { found[$0] }
    }
    items = items.withoutRepetition
    for item in items { try await storage.save(item.acceptable, mode) }
    return items.count
  }
}
