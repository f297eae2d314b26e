#if SecretService && os(Linux)
import Keyring
import Testing

/// Locking a collection of gnome-keyring.
@Suite(.inPrivateSession) struct LockTests {
  private let bus: PrivateBus
  private let keyring: GnomeKeyring

  init() throws {
    bus = try PrivateBus()
    keyring = try GnomeKeyring(on: bus)
  }

  @Test func whatIsLockedStaysSo() throws {
    let storage = bus.storage(.never)
    for _ in 0..<2 {
      try storage.lock()
      #expect(try storage.isLocked())
    }
  }

  /// Until its first unlock since log-in gnome-keyring shows items without their attributes.
  @Test func whatDoesNotShowItsAttributesIsLocked() throws {
    try bus.storage().setPassword("s3cret", for: StorageUse.key)
    try keyring.kill()
    try keyring.start(unlocked: false)
    let storage = bus.storage(.never)
    let query = ItemQuery(key: StorageUse.key, details: .metadata, allowsUnlocking: false)
    for _ in 0..<2 {
      let error = #expect(throws: SecureStorageError.self) { try storage.items(matching: query) }
      #expect(error?.code == .locked)
      // From now on it is known where the item is.
      #expect(try storage.exists(StorageUse.key))
    }
  }

  /// gnome-keyring 42 says that it has locked the collection for the session, and has not.
  @Test func whatIsNotLockedAfterwardsIsAnError() throws {
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
