// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Foundation
import Keyring
import KeyringMigration
import KeyringStorage
import Testing

/// Entries of KeePassXC whose attributes have secrets: the seeds of one-time codes, and a passkey.
@Suite(.inPrivateSession, .only(on: .keepassxc, "needs Scripts/test --provider keepassxc"))
struct OneTimeCodeTests {
  private static let seed = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
  /// The fields of the entry besides the attributes of the key.
  private static let fields = [
    "Title": "Theirs", "UserName": "ada", "Password": "theirs", "URL": "https://example.org",
    "Notes": "a note", "otp": "otpauth://totp/a:b?secret=\(seed)&amp;period=30&amp;digits=6",
    "KP2A_URL_1": "https://example.net", "KPEX_PASSKEY_PRIVATE_KEY_PEM": seed,
    "TOTP Seed": seed, "TOTP Settings": "30;6",
  ]
  private static let key = ItemKey.password(service: "service", account: "account")
  private static let credential = ItemKey.credentials(service: "service", label: "account")

  private let bus: PrivateBus
  private let keyring: KeePassXC
  private let theirs: ForeignProgram
  private let storage: SecretServiceStorage
  /// The names of those fields that this version of KeePassXC shows as attributes besides its own.
  private let shownNames: [String]

  /// Starts KeePassXC, whose user has made an entry with these attributes.
  init() throws {
    (bus, keyring, theirs, storage) = try Self.start(Self.key.attributes)
    let shown = try #require(try theirs.items([:]).first).attributes
    shownNames = Self.fields.keys.filter { shown[$0] == Self.fields[$0] && $0 != "Password" }
    #expect(shownNames.contains("TOTP Seed") && shown["otp"]?.contains(Self.seed) == true)
  }

  private static func start(
    _ attributes: [String: String]
  ) throws -> (PrivateBus, KeePassXC, ForeignProgram, SecretServiceStorage) {
    let bus = try PrivateBus()
    let keyring = try KeePassXC(on: bus, entry: fields.merging(attributes) { $1 })
    let theirs = try ForeignProgram(on: bus, collection: "secrets", provider: "keepassxc")
    return (bus, keyring, theirs, bus.storage())
  }

  /// Expects that an item shows nothing but its parts and given attributes.
  private func expectNoSecrets(_ item: SecureItem?, _ attributes: [String: String] = [:]) {
    #expect(item?.attributes == attributes)
    #expect(item.map { !"\($0)".contains(Self.seed) } == true)
  }

  /// Expects that the entry still has what its user has given it.
  private func expectEverything(_ theirs: ForeignProgram, _ secret: String) throws {
    let items = try theirs.items([:])
    #expect(items.map(\.text) == [secret])
    let shown = try #require(items.first).attributes
    #expect(shown["otp"]?.contains(Self.seed) == true)
    for name in shownNames where name != "Title" { #expect(shown[name] == Self.fields[name]) }
  }

  @Test func `the secrets in attributes are neither shown nor lost`() throws {
    try expectEverything(theirs, "theirs")
    #expect(try storage.password(for: Self.key) == "theirs")
    for query in [ItemQuery.key(Self.key, details: .all), .service("service", details: .all)] {
      let items = try storage.items(matching: query)
      #expect(items.map(\.key) == [Self.key] && items.map(\.isForeign) == [false])
      expectNoSecrets(items.first)
    }
    try storage.setPassword("ours", for: Self.key)
    try expectEverything(theirs, "ours")
    try storage.save(SecureItem(key: Self.key, attributes: ["color": "red"]), mode: .update)
    expectNoSecrets(try storage.item(for: Self.key), ["color": "red"])
    try expectEverything(theirs, "ours")
    // By now the item is ours. KeePassXC 2.7.4 asks its user before the label and the secret change at once.
    for change in [
      SecureItem(key: Self.key, label: "Another", attributes: ["color": "blue"]),
      SecureItem(key: Self.key, secret: Secret("again"), attributes: ["color": "red"]),
    ] {
      try storage.save(change, mode: .update)
      try expectEverything(theirs, change.secret?.text ?? "ours")
      expectNoSecrets(try storage.item(for: Self.key), change.attributes ?? [:])
    }
    let memory = InMemoryStorage()
    #expect(try Migration(of: [Self.key], from: storage, to: memory).copy().count == 1)
    expectNoSecrets(try memory.item(for: Self.key), ["color": "red"])
    try expectEverything(theirs, "again")
    // What was read can be stored again.
    try storage.save(#require(try storage.item(for: Self.key)), mode: .update)
    try expectEverything(theirs, "again")
    #expect(try storage.remove(Self.key))
    #expect(try theirs.items([:]).isEmpty)
  }

  @Test func `a new login is refused where it would lose the codes`() throws {
    let (bus, keyring, theirs, storage) = try Self.start(
      Self.credential.attributes.merging(["username": "ada"]) { $1 })
    defer { withExtendedLifetime((bus, keyring)) {} }
    let old = Credential(login: "ada", password: "theirs")
    #expect(try storage[Self.credential, as: .credential].read() == old)
    let error = #expect(throws: SecureStorageError.self) {
      try storage[Self.credential, as: .credential].write(
        Credential(login: "grace", password: "new"))
    }
    #expect(error?.message.contains(Self.seed) == false)
    #expect(try storage[Self.credential, as: .credential].read() == old)
    try expectEverything(theirs, "theirs")
    let new = Credential(login: "ada", password: "new")
    try storage[Self.credential, as: .credential].write(new)
    #expect(try storage[Self.credential, as: .credential].read() == new)
    try expectEverything(theirs, "new")
  }
}
#endif
