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

  /// gnome-keyring 42 says that it has locked the collection for the session, and has not.
  @Test func whatIsNotLockedAfterwardsIsAnError() throws {
    let storage = SecretServiceStorage(
      options: .init(collection: .session, busAddress: bus.address))
    try storage.setPassword("s3cret", for: Use.key)
    let error = Use.lock.expectFailure(
      .backend, storage, cause: "is not locked", advice: "another collection")
    #expect(error?.underlying == nil)
    #expect(try !storage.isLocked())
  }
}
#endif
