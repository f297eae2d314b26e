// SPDX-License-Identifier: Apache-2.0

internal import KeyringPlatform
internal import KeyringRuntime
internal import KeyringStorage

extension StoredValue {
  package var hasOldKey: Bool { if case .moved? = firstValue { true } else { false } }

  /// Gives the item with the old key, if there is one, the key of the property.
  ///
  /// At every moment, there is an item with one of the keys. If there are both, the one that was changed last stays.
  package nonisolated(nonsending) func takeOver() async throws(SecureStorageError) {
    guard case .moved(let oldKey)? = firstValue, oldKey != key else { return }
    let storage = storage
    // A cache doesn't answer a query with a limit, and may not know yet what the program with the old key has done.
    var query = ItemQuery.key(oldKey, details: .all)
    query.limit = 1
    var change: TrackedItems.Change?
    defer { change?.end() }
    while let old = try await storage.items(matching: query).first {
      if old.hasFurtherSecrets {
        throw storage.error(
          .other, during: .save,
          message:
            "The item of \(oldKey) also has one-time codes or a passkey, which a move would lose.",
          recoverySuggestion: "Move it in your keyring manager.")
      }
      change = change ?? beginChange()
      let found = try await storage.item(for: key, details: .metadata)
      if let found, old.isSame(as: found) { return }
      let isNewer = old.modified ?? .distantPast > found?.modified ?? .distantPast
      if found == nil || isNewer {
        do throws(SecureStorageError) {
          try await storage.save(renamed(old), mode: found == nil ? .add : .update)
        } catch {
          // Another program was faster.
          if [.itemAlreadyExists, .itemNotFound].contains(error.code) { continue }
          throw error
        }
      }
      // The program that uses the old key may have changed the item just now.
      guard try await storage.items(matching: query).first?.secret == old.secret else { continue }
      var removal = ItemQuery.key(oldKey)
      removal.leavesOthers = true
      do throws(SecureStorageError) {
        try await storage.removeItems(matching: removal)
      } catch {
        // A layer that can't be written keeps it.
        guard error.code == .readOnly else { throw error }
      }
      return
    }
  }

  /// Returns an item with the key of the property instead of its own.
  private func renamed(_ old: SecureItem) -> SecureItem {
    var item = old.sanitized
    item.key = key
    item.attributes = item.attributes?.filter { key.attributes[$0.key] == nil }
    // The login of a credential may have been a part of the old key.
    if key.kind == .credentials, let login = old.key.attributes[AttributeName.username] {
      item.attributes = [AttributeName.username: login].merging(item.attributes ?? [:]) { $1 }
    }
    if item.label == old.key.defaultLabel { item.label = nil }
    return item
  }

  /// Gives the item with the old key, if there is one, the key of the property.
  func takeOver() throws(SecureStorageError) {
    if case .moved? = firstValue {
      try ThreadExecutor.runToEnd { () async throws(SecureStorageError) in try await takeOver() }
    }
  }
}
