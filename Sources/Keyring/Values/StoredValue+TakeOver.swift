// SPDX-License-Identifier: Apache-2.0

internal import KeyringStorage

extension StoredValue {
  package var hasOldKey: Bool { if case .moved? = firstValue { true } else { false } }

  /// Gives the item with the old key, if there is one, the key of the property.
  package nonisolated(nonsending) func takeOver() async throws(SecureStorageError) {
    if case .moved(let oldKey)? = firstValue { try await move(from: oldKey).run() }
  }

  /// Gives the item with the old key, if there is one, the key of the property.
  func takeOver() throws(SecureStorageError) {
    if case .moved(let oldKey)? = firstValue { try move(from: oldKey).runToEnd() }
  }

  private func move(from oldKey: ItemKey) -> ItemMove {
    ItemMove(oldKey: oldKey, key: currentKey, box: chosenStorage)
  }

  /// Reads the value again after the item with the old key got the key of the property.
  // Not inlined: the getter of each property would contain it, and few need it.
  @inline(never)
  func readAfterTakingOver() throws(SecureStorageError) -> Value? {
    try takeOver()
    return try chosenStorage.storage.value(for: currentKey, as: coding)
  }
}
