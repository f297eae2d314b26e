import KeyringStorage
import Testing

@Suite struct ConfirmingStorageTests {
  private let key = ItemKey.password(service: "service", account: "account")

  @Test func isLockedBetweenUses() throws {
    let vault = try InMemoryStorage().createCollection(labeled: "vault")
    let confirming = ConfirmingStorage(vault)
    // Nobody is there to confirm: what is locked stays so.
    let error = #expect(throws: SecureStorageError.self) {
      try confirming.setPassword("s3cret", for: key)
    }
    #expect(error?.code == .locked)
    #expect(try vault.isLocked())
  }

  @Test func defaultCollectionIsRefused() throws {
    let storage = InMemoryStorage()
    let error = #expect(throws: SecureStorageError.self) {
      try ConfirmingStorage(storage).password(for: key)
    }
    #expect(error?.code == .invalidArgument && error?.argument == "collection")
    #expect(try !storage.isLocked())
  }
}
