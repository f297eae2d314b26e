// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
internal import KeyringStorage

extension ItemWriter {
  /// Removes items that another process created by saving under the same key at the same time.
  ///
  /// All processes that save order the items in the same way and remove all but the valid one. Exactly one
  /// item is left, regardless of which process comes last.
  ///
  /// - Parameters:
  ///   - key: The key of the items.
  ///   - revision: The revision below which all items are known to be on disk.
  /// - Throws: The error of a lost or hanging keyring, or of a cancelled task.
  func removeSuperseded(
    _ key: ItemKey, onDisk revision: Int = 0
  ) async throws(SecureStorageError) {
    try await cleaningUp { () async throws(SecureStorageError) in
      let stored = try await finder.storedItems(for: key)
      try await remove(superseded(stored, onDisk: revision))
    }
  }

  /// Returns the items that the first one has replaced and made superfluous.
  ///
  /// A provider that writes secrets late would lose the valid item if it died now, so a predecessor that is on
  /// disk stays. If the provider was quiet before this save, that's the newest one. Otherwise it's the oldest
  /// one. The newest one that may be on disk also stays then. It has the newer value, and another process that
  /// has noticed that the provider was quiet may be removing the oldest one.
  ///
  /// An item of the same revision isn't a predecessor. It was created at the same moment, and would become valid
  /// if the valid item changed.
  ///
  /// - Parameters:
  ///   - stored: The items under a key, the valid one first.
  ///   - revision: The revision below which all items are known to be on disk.
  /// - Returns: The items to remove.
  func superseded(_ stored: [StoredItem], onDisk revision: Int = 0) -> [StoredItem] {
    guard let valid = stored.first else { return [] }
    var kept: [StoredItem?] = []
    if call.provider.delaysSecrets, valid.revision >= revision {
      let predecessors = stored.filter {
        $0.isOwn ? $0.revision < valid.revision : valid.isSuccessor
      }
      if let newest = predecessors.first(where: { $0.revision < revision }) {
        kept = [newest]
      } else {
        let delay = call.provider.shortestDelay
        kept = [predecessors.last, predecessors.first { !$0.wasCreated(within: delay) }]
      }
    }
    let paths = Set(kept.compactMap { $0?.path })
    return stored.dropFirst().filter { !paths.contains($0.path) }
  }
}
#endif
