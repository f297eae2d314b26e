#if SecretService && os(Linux)
import Keyring
import KeyringStorage
import Testing

@testable import KeyringSecretService

/// Items that another process replaced by newer ones, but didn't delete before it was killed.
@Suite(.inPrivateSession) struct SupersededItemTests {
  private let storage = SecretServiceStorage()
  private let key = ItemKey.password(service: PrivateSession.newService(), account: "account")

  /// Creates the item that another process creates before it deletes the item that it replaces.
  private func replaceWithNewAttributes(revision: Int, _ secret: String) throws {
    let session = try openSession()
    let attributes = key.newAttributes.merging([AttributeName.revision: "\(revision)"]) { $1 }
    let message = MethodCall.createItem(
      in: .collection(aliased: "default"), attributes: attributes, label: "newer",
      secret: try #require(session.encode(Secret(secret))), replacing: true)
    _ = try session.send([message], until: Deadline(after: .seconds(25)))[0].get()
  }

  @Test func `a rewrite goes to the newer item`() throws {
    try storage.setPassword("old", for: key)
    try replaceWithNewAttributes(revision: 1, "theirs")
    // This process knows the place of the old item.
    try storage.setPassword("ours", for: key)
    #expect(try storage.password(for: key) == "ours")
    #expect(try SecretServiceStorage().items(matching: .key(key, details: .all)).count == 1)
    #expect(try storage.remove(key))
    #expect(try storage.password(for: key) == nil)
  }

  /// Any program may write any revision.
  @Test func `the largest revision counts as none`() throws {
    try replaceWithNewAttributes(revision: .max, "theirs")
    for environment in ["first", "second"] {
      try storage.save(
        SecureItem(
          key: key, secret: Secret(environment), attributes: ["environment": environment]),
        mode: .addOrReplace)
      #expect(try storage.password(for: key) == environment)
    }
    let most = Provider.current.keepsReplacedItems ? 2 : 1
    #expect(try countStoredItems(key.ownAttributes) <= most)
    #expect(try storage.remove(key))
  }
}
#endif
