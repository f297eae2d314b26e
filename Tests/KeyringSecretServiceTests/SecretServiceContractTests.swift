// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Keyring
import KeyringTesting
import Testing

/// The contract on a real keyring, for one collection at a time.
@Suite(.inPrivateSession) struct SecretServiceContractTests {
  /// The cases for a keyring that has no user, and that other tests use at the same time.
  static let unattended = StorageContract.allCases.filter {
    $0.requirement == nil || $0.requirement == .observation
  }
  /// The cases for a collection of a keyring that other tests use at the same time.
  static let ofOneCollection = StorageContract.allCases.filter {
    $0.requirement != .collections && $0.requirement != .restart
  }

  // The test of a named collection is enough with a sanitizer.
  @Test(.tags(.contract, .unsanitized), arguments: unattended)
  func `the default collection keeps the contract`(rule: StorageContract) throws {
    try KnownLimitation.verify(rule) { try rule.verify(SecretServiceStorage()) }
  }

  // The test of a named collection is enough with a sanitizer.
  @Test(.withSessionCollection, .tags(.slow, .unsanitized), arguments: unattended)
  func `the session collection keeps the contract`(rule: StorageContract) throws {
    try KnownLimitation.verify(rule) { try rule.verify(SecretServiceStorage(collection: .session)) }
  }

  @Test(
    .tags(.slow),
    .only(on: .gnomeKeyring, "makes a collection as only gnome-keyring's own tools can"),
    arguments: ofOneCollection)
  func `a named collection keeps the contract`(rule: StorageContract) throws {
    try PasswordCollection.whileThere { collection, storage in
      try KnownLimitation.verify(rule) { try rule.verify(storage) { _ in try collection.unlock() } }
    }
  }

  @Test(
    .enabled(
      if: KnownLimitation.reason(.rule(.collectionsAreApart)) != nil,
      "PromptTests confirm the prompts of gnome-keyring"))
  func `a collection cannot be made without a user`() throws {
    let rule = StorageContract.collectionsAreApart
    try KnownLimitation.verify(rule) { try rule.verify(SecretServiceStorage(interaction: .never)) }
  }

  @Test func `the article's limitations of the provider are those of promises`() {
    let promises: [KnownLimitation.Promise] =
      StorageContract.allCases.map { .rule($0) }
      + [.sessionCollection, .rewrittenItemsAreFound, .crashSafety]
    #expect(KnownLimitation.reasons.keys.allSatisfy(promises.map(\.description).contains))
  }
}
#endif
