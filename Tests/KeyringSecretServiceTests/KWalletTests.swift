#if SecretService && os(Linux)
import Foundation
import Keyring
import KeyringTesting
import Testing

/// What differs on KWallet: a collection is a wallet, and one with an empty password is unlocked
/// without a question, but for a caller who allows questions.
@Suite(.inPrivateSession, .only(on: .kwallet, "needs Scripts/test --provider kwallet"))
struct KWalletTests {
  /// The wallet that `Scripts/private-session` has made beside the default one.
  let second = SecretServiceStorage(collection: .named("second"))

  @Test(arguments: StorageContract.allCases.filter { !$0.needsCollections })
  func secondWallet(rule: StorageContract) throws {
    try second.unlock()
    let storage = SecretServiceStorage(collection: .named("second"), interaction: .never)
    try KnownLimit.mind(rule) { try rule.verify(storage) { [second] _ in try second.unlock() } }
  }

  @Test(arguments: StorageContract.allCases.filter(\.needsCollections))
  func collectionsWithoutAPerson(rule: StorageContract) throws {
    try KnownLimit.mind(rule) { try rule.verify(SecretServiceStorage(interaction: .never)) }
  }

  @Test func walletsAreApart() throws {
    let key = ItemKey.password(service: PrivateSession.newService(), account: "account")
    let first = SecretServiceStorage()
    try first.setPassword("of the first", for: key, .add)
    #expect(try second.password(for: key) == nil)
    try second.setPassword("of the second", for: key, .add)
    #expect(try second.remove(key))
    #expect(try first.password(for: key) == "of the first")
    #expect(try first.remove(key))
    #expect(try second.collections().map(\.label).sorted() == ["kdewallet", "second"])
    #expect(try second.collections().filter(\.isDefault).map(\.label) == ["kdewallet"])
  }

  @Test func threadsUnlockAtOnce() throws {
    let key = ItemKey.password(service: PrivateSession.newService(), account: "account")
    try second.setPassword("s3cret", for: key)
    for _ in 0..<20 {
      try second.lock()
      DispatchQueue.concurrentPerform(iterations: 4) { [second] _ in
        #expect(throws: Never.self) {
          let password = try second.password(for: key)
          #expect(password == "s3cret")
        }
      }
    }
    #expect(try second.remove(key))
  }
}
#endif
