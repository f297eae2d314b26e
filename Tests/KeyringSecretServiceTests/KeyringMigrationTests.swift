// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import FoundationEssentials
import Keyring
import KeyringMigration
import KeyringStorage
import KeyringTesting
import Testing

/// The migration of secrets into the keyring, and out of it.
@Suite struct KeyringMigrationTests {
  private let keyring = SecretServiceStorage(collection: Provider.current.fastestCollection)
  private let service = PrivateSession.newService()

  @Test(.inPrivateSession) func `items move to the keyring and back unchanged`() throws {
    let (old, new) = (InMemoryStorage(), InMemoryStorage())
    let items = (0..<20).map { number in
      SecureItem(
        key: .password(service: service, account: "\(number)"), secret: Secret("s3cret \(number)"),
        label: "label \(number)", attributes: ["comment": "of \(number)"])
    }
    for item in items { try old.save(item, mode: .add) }
    try old[.credentials(service: service, label: "l"), as: .credential].write(
      Credential(login: "ada", password: "pa55"))
    try old[.value(service: service, account: "bytes"), as: .secret].write(
      Secret(bytes: [0, 0xFF]))
    let query = ItemQuery.service(service)
    #expect(try Migration(of: query, from: old, to: keyring).move().count == 22)
    #expect(try old.items(matching: query).isEmpty)
    #expect(try Migration(of: query, from: keyring, to: new).move().count == 22)
    #expect(try keyring.items(matching: query).isEmpty)
    for item in items {
      let found = try #require(try new.item(for: item.key))
      #expect(found.secret == item.secret && found.label == item.label)
      #expect(found.attributes == item.attributes)
    }
  }

  // python's keyring changes a password of ours in this way. A removal by hand takes both items.
  @Test(.inPrivateSession) func `an item that another program has put beside ours stays`() throws {
    let keyring = SecretServiceStorage()
    let key = ItemKey.password(service: service, account: "account")
    try keyring.setPassword("ours", for: key)
    let theirs = [
      "service": service, "username": "account", "application": "Python keyring library",
    ]
    try SecretTool.store("theirs", label: "Theirs", theirs)
    #expect(try Migration(of: [key], from: keyring, to: InMemoryStorage()).move().count == 1)
    #expect(try keyring.password(for: key) == "theirs")
    #expect(try keyring.remove(key))
  }

  // The item would be removed under the old key after it was found under the new one.
  @Test(.inPrivateSession, arguments: [ItemKind.password, .value])
  func `an item of another program that both keys mean stays where it is`(kind: ItemKind) throws {
    let keyring = SecretServiceStorage()
    let old = ItemKey.password(service: service, account: "account")
    let new = ItemKey(kind: kind, attributes: old.attributes, schema: "org.example.New")
    try SecretTool.store("theirs", label: "Theirs", old.attributes)
    if kind == old.kind {
      #expect(try Migration(renaming: [old: new], in: keyring).move().count == 0)
    }
    let renamed = Password(
      "account", service: service, movingFrom: new, storage: keyring
    ).projectedValue
    #expect(try renamed.exists() && renamed.read() == "theirs")
    #expect(try keyring.password(for: old) == "theirs" && keyring.password(for: new) == "theirs")
    #expect(try renamed.remove())
    #expect(try !keyring.exists(old) && !keyring.exists(new))
  }

  @Test(.inPrivateSession) func `the keyring is not migrated to itself`() throws {
    try keyring.service(service).password("account").write("s3cret")
    let same = SecretServiceStorage(collection: Provider.current.fastestCollection)
    let error = #expect(throws: SecureStorageError.self) {
      try Migration(of: .service(service), from: keyring, to: same).move()
    }
    #expect(error?.argument == "destination")
    #expect(try keyring.service(service).password("account").read() == "s3cret")
    #expect(try keyring.service(service).removeAll().count == 1)
  }
}
#endif
