// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Foundation
import Keyring
import KeyringStorage
import KeyringTesting
import Testing

@testable import KeyringSecretService

/// The differences of KWallet.
///
/// A collection is a wallet. A wallet with an empty password is unlocked without a question, but
/// only for a caller that allows questions.
@Suite(.inPrivateSession, .only(on: .kwallet, "needs Scripts/test --provider kwallet"))
struct KWalletTests {
  /// The wallet that `Scripts/private-session` has made beside the default one.
  let second = SecretServiceStorage(collection: .named("second"))

  @Test(arguments: SecretServiceContractTests.ofOneCollection)
  func `each rule of the contract holds for a second wallet`(rule: StorageContract) throws {
    try second.unlock()
    let storage = SecretServiceStorage(collection: .named("second"), interaction: .never)
    try KnownLimitation.verify(rule) {
      try rule.verify(storage) { [second] _ in try second.unlock() }
    }
  }

  /// KWallet numbers the labels that several items have, and the package numbers all labels.
  @Test(arguments: [
    "label", "label__5_", "label__5___7_", "__5_", "_", "a\nb", "\na", "a\n", "a\nb__5_",
    "ü\u{301}€",
    String(repeating: "x", count: ItemLimits.attributeBytes),
  ])
  func `a label reads back as it was given`(label: String) throws {
    let storage = SecretServiceStorage()
    let service = PrivateSession.newService()
    let keys = ["1", "2"].map { ItemKey.password(service: service, account: $0) }
    try storage.save(SecureItem(key: keys[0], secret: Secret("1"), label: "old"), mode: .add)
    try storage.save(SecureItem(key: keys[0], label: label), mode: .update)
    try storage.save(SecureItem(key: keys[1], secret: Secret("2"), label: label), mode: .add)
    for (key, secret) in zip(keys, ["1", "2"]) {
      let item = try storage.item(for: key)
      #expect(item?.label == label && item?.secret?.text == secret)
      // Nothing changes, so no item is created.
      try storage.save(SecureItem(key: key, label: label), mode: .update)
      #expect(try storage.items(matching: .key(key, details: .all)).map(\.label) == [label])
      #expect(try storage.remove(key))
    }
  }

  /// ksecretd 6.30 stores the secret of such an item as an empty dictionary.
  @Test func `an item keeps its secret or is refused if its type is "map"`() throws {
    let storage = SecretServiceStorage()
    let key = ItemKey.password(service: PrivateSession.newService(), account: "account")
    for type in ["map", "text"] {
      let item = SecureItem(key: key, secret: Secret("s3cret"), attributes: ["type": type])
      do {
        try storage.save(item, mode: .addOrReplace)
        #expect(try storage.password(for: key) == "s3cret")
        #expect(try storage.remove(key))
      } catch {
        #expect(type == "map" && Provider.kwalletProgram == "ksecretd")
        #expect(error.code == .invalidArgument && error.argument == "attributes")
        #expect(try storage.password(for: key) == nil)
      }
    }
  }

  @Test func `wallets are separate`() throws {
    let key = ItemKey.password(service: PrivateSession.newService(), account: "account")
    let first = SecretServiceStorage()
    try first.setPassword("of the first", for: key, mode: .add)
    #expect(try second.password(for: key) == nil)
    try second.setPassword("of the second", for: key, mode: .add)
    #expect(try second.remove(key))
    #expect(try first.password(for: key) == "of the first")
    #expect(try first.remove(key))
    #expect(try second.collections().map(\.label).sorted() == ["kdewallet", "second"])
    #expect(try second.collections().filter(\.isDefault).map(\.label) == ["kdewallet"])
  }

  @Test func `several threads can unlock a wallet at once`() throws {
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

  /// Opens 300 sessions, because KWallet 5.103 can't use the keys of about one session in 256.
  @Test func `every session works`() throws {
    let storage = SecretServiceStorage()
    let service = PrivateSession.newService()
    let key = ItemKey.password(service: service, account: "account")
    for number in 0..<300 {
      SessionCache.shared.forget(try openSession(), at: nil)
      switch number % 3 {
      case 0: try storage.setPassword("\(number / 3)", for: key, mode: .add)
      case 1: #expect(try storage.password(for: key) == "\(number / 3)")
      default:
        try storage.setPassword("changed", for: key, mode: .update)
        #expect(try storage.password(for: key) == "changed")
        #expect(try storage.removeItems(matching: .service(service)) == 1)
      }
    }
    try storage.removeItems(matching: .service(service))
  }
}
#endif
