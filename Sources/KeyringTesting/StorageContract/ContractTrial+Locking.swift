// SPDX-License-Identifier: Apache-2.0

internal import KeyringPlatform
internal import KeyringStorage
internal import Synchronization

/// The trial of locking: what is locked is never mistaken for absent, lost or replaced.
extension ContractTrial {
  func lockedIsNotMissing() throws {
    try save("present", password())
    try whileLocked { storage in
      try expect(storage.isLocked(), "a locked storage says that it is not")
      try storage.lock()
      try expect(.locked, of: "reading a locked item") { _ = try secret(password()) }
      try expect(.locked, of: "reading a locked secret alone") {
        _ = try storage.secret(for: password())
      }
      try expect(.locked, of: "finding a locked item") {
        _ = try storage.items(matching: .service(service, details: .metadata))
      }
      try expect(.locked, of: "saving over a locked item") { try save("other", password()) }
      try expect(.locked, of: "adding to a locked storage") {
        try save("other", password("another"))
      }
      let exists: Bool
      do throws(SecureStorageError) {
        exists = try storage.exists(password())
      } catch {
        try expect(error.code == .locked, "looking for a locked item threw \(error.code)")
        return
      }
      try expect(exists, "a locked item does not exist")
    }
    try expectStored("present", password(), "after unlocking")
    try expect(!storage.exists(password("another")), "a refused addition made an item")
  }

  func lockedItemsAreListed() throws {
    try save("present", password())
    try whileLocked { storage in
      for var query in [ItemQuery.service(service), .key(password())] {
        query.details = .all
        query.allowsUnlocking = false
        let items = try storage.items(matching: query)
        try expect(items.map(\.key) == [password()], "a locked item is not listed")
        try expect(items.first?.isLocked == true, "a locked item does not say so")
        try expect(items.first?.secret == nil, "a locked item has a secret")
      }
      try expect(storage.isLocked(), "listing unlocked the storage")
    }
  }

  func removingLockedFails() throws {
    try save("present", password())
    try whileLocked { storage in
      try expect(.locked, of: "removing a locked item") { try storage.remove(password()) }
      for allowsUnlocking in [true, false] {
        try expect(.locked, of: "removing a locked service") {
          try storage.removeItems(
            matching: ItemQuery(attributes: ["service": service], allowsUnlocking: allowsUnlocking))
        }
      }
    }
    try expectStored("present", password(), "after a refused removal")
  }

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

  func lockingLosesNothing() throws {
    try save("0", password())
    let isLocking = Atomic(true)
    let tries = Atomic(0)
    let lock: @Sendable () throws -> Void = {
      defer { isLocking.store(false, ordering: .releasing) }
      for _ in 0..<10 {
        Self.wait(for: tries, while: isLocking)
        try whileLocked { _ in Self.wait(for: tries, while: isLocking) }
      }
    }
    let read: @Sendable () throws -> Void = {
      defer { isLocking.store(false, ordering: .releasing) }
      repeat {
        let text = try unlessLocked { try secret(password())?.text ?? "nothing" }
        try expect(text.map { Int($0) != nil } ?? true, "a reader found \(text ?? "")")
      } while isLocking.load(ordering: .acquiring)
    }
    let write: @Sendable () throws -> Void = {
      defer { isLocking.store(false, ordering: .releasing) }
      var number = 0
      var isWritten = false
      repeat {
        // Nothing else is written before the last value was read back, so that a loss is noticed.
        let found = try unlessLocked { try secret(password())?.text ?? "nothing" }
        if let found, isWritten { try expect(found == "\(number)", "a written value is lost") }
        if found != nil || !isWritten {
          number += 1
          isWritten = try unlessLocked { try save("\(number)", password()) } != nil
        }
        tries.add(1, ordering: .acquiringAndReleasing)
      } while isLocking.load(ordering: .acquiring)
    }
    try Self.concurrently([lock, read, write])
  }

  private func unlessLocked<Result>(_ body: () throws -> Result) throws -> Result? {
    do {
      return try body()
    } catch let error as SecureStorageError where error.code == .locked {
      return nil
    }
  }

  /// Waits until the other thread has tried two more times or has stopped.
  private static func wait(
    for tries: borrowing Atomic<Int>, while isGoingOn: borrowing Atomic<Bool>
  ) {
    let enough = tries.load(ordering: .acquiring) + 2
    while isGoingOn.load(ordering: .acquiring), tries.load(ordering: .acquiring) < enough {
      sched_yield()
    }
  }

  /// Runs a closure while the storage is locked, and always unlocks the storage afterwards.
  func whileLocked(
    unlocking unlock: ((any LockableStorage) throws -> Void)? = nil,
    _ body: (any LockableStorage) throws -> Void
  ) throws {
    guard let lockable = storage as? any LockableStorage else {
      throw violation("the case is for a LockableStorage")
    }
    try lockable.lock()
    let outcome = Result { try body(lockable) }
    try (unlock ?? self.unlock)(lockable)
    try outcome.get()
    try expect(!lockable.isLocked(), "an unlocked storage says that it is locked")
  }
}
