// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Keyring
import KeyringStorage
import Testing

/// A provider that doesn't keep the labels of collections.
@Suite(.withOwnKeyring) struct CollectionLabelTests {
  private let bus: PrivateBus
  private let service: FakeService

  init() throws {
    bus = try PrivateBus()
    service = try FakeService(on: bus)
  }

  private var labels: [String] { get throws { try bus.storage().collections().map(\.label) } }

  @discardableResult
  private func expect(
    _ code: SecureStorageError.Code, _ message: String = "",
    sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Void
  ) -> SecureStorageError? {
    let error = #expect(
      throws: SecureStorageError.self, sourceLocation: sourceLocation, performing: body)
    #expect(error?.code == code, "\(String(describing: error))", sourceLocation: sourceLocation)
    #expect(
      error?.message.contains(message) == true, "\(String(describing: error))",
      sourceLocation: sourceLocation)
    return error
  }

  @Test func `a collection that gets another label is an error, and is deleted`() throws {
    try service.relabelCollections("vault 2")
    let error = expect(.verificationFailed, "\"vault 2\"") {
      try bus.storage().createCollection(labeled: "vault")
    }
    #expect(error?.recoverySuggestion == "Choose another label.")
    #expect(try labels == ["Only"])
  }

  @Test func `a collection that isn't new is never deleted`() throws {
    // The next collection would have this path.
    try service.makeSecondCollection(named: "z2")
    expect(.verificationFailed, "\"Second\"") {
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
    expect(.collectionAlreadyExists) { try bus.storage().createCollection(labeled: "VAULT") }
    // It may be another program's.
    expect(.collectionNotFound, "\"Vault\"") {
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
    expect(.collectionNotFound) { try bus.storage(in: .named("VAULT")).lock() }
    #expect(try !bus.storage().deleteCollection(labeled: "VAULT"))
    #expect(try bus.storage().deleteCollection(labeled: "a/b"))
    _ = try service.takeCalls()
    try bus.storage().createCollection(labeled: "third")
    // They list the collections that are there before.
    #expect(try service.takeCalls()["Get"] == 1 + 3)
  }

  @Test func `a slash in a label is refused before anything is sent`() throws {
    let error = expect(.invalidArgument, "\"/\"") {
      try bus.storage().createCollection(labeled: "a/b")
    }
    #expect(error?.argument == "label")
    #expect(try service.takeCalls()["CreateCollection"] == nil)
    #expect(try labels == ["Only"])
  }
}
#endif
