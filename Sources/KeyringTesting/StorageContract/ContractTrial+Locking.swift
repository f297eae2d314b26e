// SPDX-License-Identifier: Apache-2.0

internal import KeyringStorage

// Rule 12: an item is absent only if an unlocked storage was searched for it.
extension ContractTrial {
  func absentMeansUnlocked() throws {
    let absent = password("absent")
    // A storage that caches absence must not answer from that cache.
    try expect(secret(absent) == nil, "an absent item has a secret")
    try whileLocked { storage in
      for key in [absent, credentials("absent")] {
        try expectLocked("reading") { _ = try secret(key) }
        try expectLocked("reading a secret alone") { _ = try storage.secret(for: key) }
        try expectLocked("reading many keys") {
          _ = try storage.items(for: [key, password()], details: .all)
        }
        try expectLocked("looking for a key") { _ = try storage.exists(key) }
        try expectLocked("updating") { try save("other", key, mode: .update) }
        try expectLocked("adding") { try save("other", key, mode: .add) }
        try expectLocked("removing") { _ = try storage.remove(key) }
      }
      try expectLocked("finding") { _ = try storage.items(matching: .service(service)) }
    }
    try expect(!storage.exists(absent), "a refused call created an item")
  }

  private func expectLocked(_ action: String, _ body: () throws -> Void) throws {
    try expect(.locked, of: "\(action) an absent item of a locked storage", body)
  }

  func addingNeverReplaces() throws {
    for round in 0..<5 {
      let key = password("appears \(round)")
      try save("first", key)
      // One addition certainly meets the lock. Another one meets the lock, the unlocking, or what follows.
      let unlockWhileAdding = { (storage: any LockableStorage) in
        try Self.concurrently([{ try unlock(storage) }, { try expectAdditionRefused(key) }])
      }
      try whileLocked(unlocking: unlockWhileAdding) { _ in try expectAdditionRefused(key) }
      try expectStored("first", key, "after an addition that began while it was locked")
    }
  }

  private func expectAdditionRefused(_ key: ItemKey) throws {
    do throws(SecureStorageError) {
      try save("second", key, mode: .add)
    } catch {
      let codes: [SecureStorageError.Code] = [.itemAlreadyExists, .locked, .userCanceled]
      return try expect(codes.contains(error.code), "adding a locked item threw \(error.code)")
    }
    throw violation("an addition that began while it was locked has replaced an item")
  }
}
