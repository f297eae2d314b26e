// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Keyring
import KeyringStorage
import Testing

/// Locking a collection of gnome-keyring.
@Suite(.withOwnKeyring) struct LockTests {
  private let bus: PrivateBus
  private let keyring: GnomeKeyring

  init() throws { (bus, keyring) = try PrivateBus.with { try GnomeKeyring(on: $0) } }

  /// Starts gnome-keyring without an unlock.
  ///
  /// Until its first unlock since log-in, it shows items without their attributes.
  @Test func `an item without visible attributes is locked`() throws {
    try bus.storage().setPassword("s3cret", for: StorageUse.key)
    try keyring.kill()
    try keyring.start(unlocked: false)
    let storage = bus.storage(.never)
    let query = ItemQuery(key: StorageUse.key, details: .metadata, allowsUnlocking: false)
    for _ in 0..<2 {
      expectError(.locked) { try storage.items(matching: query) }
      // From now on, the storage knows where the item is.
      #expect(try storage.exists(StorageUse.key))
    }
  }

  /// Locks the session collection, which gnome-keyring 42 reports as done and doesn't do.
  @Test func `a lock that has no effect is an error`() throws {
    let storage = SecretServiceStorage(
      options: .init(collection: .session, busAddress: bus.address))
    try storage.setPassword("s3cret", for: StorageUse.key)
    let error = StorageUse.lock.expectFailure(
      .other, storage, cause: "isn't locked", recoverySuggestion: "another collection")
    #expect(error?.underlying == nil)
    #expect(try !storage.isLocked())
  }
}
#endif
