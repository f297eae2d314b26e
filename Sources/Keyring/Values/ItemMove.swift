// SPDX-License-Identifier: Apache-2.0

internal import KeyringPlatform
internal import KeyringRuntime
internal import KeyringStorage

/// A move of an item to another key.
///
/// It's the same code for values of all types, and few properties need it.
struct ItemMove: Sendable {
  let oldKey: ItemKey
  let key: ItemKey
  let box: StorageBox

  /// Moves the item, if there is one with the old key.
  ///
  /// At every moment, there is an item with one of the keys. If there are both, the one that was changed last stays.
  nonisolated(nonsending) func run() async throws(SecureStorageError) {
    if oldKey == key { return }
    let storage = box.storage
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
      change = change ?? TrackedItems.beginChange(of: key, in: box)
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

  /// Returns an item with the new key instead of its own.
  private func renamed(_ old: SecureItem) -> SecureItem {
    var item = old.sanitized
    item.key = key
    item.attributes = item.attributes?.keeping { key.attributes[$0] == nil }
    // The login of a credential may have been a part of the old key.
    if key.kind == .credentials, let login = old.key.attributes[AttributeName.username] {
      item.attributes = [AttributeName.username: login].setting(item.attributes ?? [:])
    }
    if item.label == old.key.defaultLabel { item.label = nil }
    return item
  }

  /// Moves the item and waits for the end.
  func runToEnd() throws(SecureStorageError) {
    try ThreadExecutor.runToEnd { () async throws(SecureStorageError) in try await run() }
  }
}
