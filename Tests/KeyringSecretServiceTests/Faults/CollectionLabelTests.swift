// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Keyring
import KeyringStorage
import Testing

/// A provider that doesn't keep the labels of collections.
@Suite(.withOwnKeyring) struct CollectionLabelTests {
  private let bus: PrivateBus
  private let service: FakeService

  init() throws { (bus, service) = try PrivateBus.with { try FakeService(on: $0) } }

  private var labels: [String] { get throws { try bus.storage().collections().map(\.label) } }

  @Test func `a collection that gets another label is an error, and is deleted`() throws {
    try service.relabelCollections("vault 2")
    let error = expectError(.verificationFailed, says: "\"vault 2\"") {
      try bus.storage().createCollection(labeled: "vault")
    }
    #expect(error?.recoverySuggestion == "Choose another label.")
    #expect(try labels == ["Only"])
  }

  @Test func `a collection that isn't new is never deleted`() throws {
    // The next collection would have this path.
    try service.makeSecondCollection(named: "z2")
    expectError(.verificationFailed, says: "\"Second\"") {
      try bus.storage().createCollection(labeled: "vault")
    }
    #expect(try labels == ["Only", "Second"])
  }

  @Test func `a collection is found if its label has other capitals`() throws {
    try service.relabelCollections("Vault")
    let vault = try bus.storage().createCollection(labeled: "vault")
    try vault.setPassword("s3cret", for: StorageUse.key)
    let other = bus.storage(in: .named("VAULT"))
    #expect(try other.password(for: StorageUse.key) == "s3cret")
    // Both would be the same file.
    expectError(.collectionAlreadyExists) { try bus.storage().createCollection(labeled: "VAULT") }
    // It may be another program's.
    expectError(.collectionNotFound, says: "\"Vault\"") {
      try bus.storage().deleteCollection(labeled: "vault")
    }
    #expect(try vault.password(for: StorageUse.key) == "s3cret")
    #expect(try bus.storage().deleteCollection(labeled: "Vault"))
    #expect(try labels == ["Only"])
  }

  @Test func `a known provider distinguishes capitals, and isn't asked for a label`() throws {
    try service.takeName("org.gnome.keyring")
    for label in ["vault", "Vault", "a/b"] {
      let vault = try bus.storage().createCollection(labeled: label)
      try vault.setPassword(label, for: StorageUse.key)
    }
    #expect(try bus.storage(in: .named("vault")).password(for: StorageUse.key) == "vault")
    expectError(.collectionNotFound) { try bus.storage(in: .named("VAULT")).lock() }
    #expect(try !bus.storage().deleteCollection(labeled: "VAULT"))
    #expect(try bus.storage().deleteCollection(labeled: "a/b"))
    _ = try service.takeCalls()
    try bus.storage().createCollection(labeled: "third")
    // They list the collections that are there before.
    #expect(try service.takeCalls()["Get"] == 1 + 3)
  }

  @Test func `a slash in a label is refused before anything is sent`() throws {
    expectError(.invalidArgument, argument: "label", says: "\"/\"") {
      try bus.storage().createCollection(labeled: "a/b")
    }
    #expect(try service.takeCalls()["CreateCollection"] == nil)
    #expect(try labels == ["Only"])
  }
}
#endif
