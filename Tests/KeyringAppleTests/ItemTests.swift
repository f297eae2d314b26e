// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import AppleKeychainModel
import Keyring
import KeyringApple
import KeyringMigration
import KeyringStorage
import StandInKeychain
import TestPrograms
import Testing

struct ItemTests {
  let device = KeychainModel()
  let key = ItemKey.password(service: "service", account: "account")

  /// Stores an item as another program does.
  private func add(_ entries: KeychainDictionary, to keychain: TestKeychain) {
    var entries = entries
    entries[.usesDataProtection] = .boolean(keychain != .fileBased)
    #expect(StandInKeychain(device).add(entries).status == 0)
  }

  @Test(arguments: [TestKeychain.dataProtection, .fileBased])
  func `a password is a plain item of Apple's`(keychain: TestKeychain) throws {
    let storage = keychain.storage(on: device)
    try storage.setPassword("s3cret", for: key)
    let row = try #require(device.rows.first)
    #expect(row.itemClass == .genericPassword)
    #expect(row.attributes["svce"]?.string == "service")
    #expect(row.attributes["acct"]?.string == "account")
    #expect(row.data == Array("s3cret".utf8))
    let server = InternetServer("example.org", port: 8443, protocol: .https)
    try storage.setPassword("s3cret", for: .internetPassword(server: server, account: "me"))
    let other = try #require(device.rows.last)
    #expect(other.itemClass == .internetPassword)
    #expect(other.attributes["srvr"]?.string == "example.org")
    #expect(other.attributes["port"] == .number(8443))
    #expect(other.attributes["ptcl"]?.string == "htps")
    #expect(other.attributes["desc"]?.string == "Internet password")
  }

  @Test(arguments: [TestKeychain.dataProtection, .fileBased])
  func `two kinds with one name are two items`(keychain: TestKeychain) throws {
    let storage = keychain.storage(on: device)
    struct Settings {
      @Password("name", service: "service") var password: String?
      @SecureValue("name", service: "service") var value: Int?
      @Credentials("name", service: "service") var credential: Credential?
    }
    withSecureStorage(storage) {
      let settings = Settings()
      settings.password = "s3cret"
      settings.value = 3
      settings.credential = Credential(login: "me", password: "other")
      #expect(settings.password == "s3cret")
      #expect(settings.value == 3)
      #expect(settings.credential == Credential(login: "me", password: "other"))
    }
    #expect(device.rows.count == 3)
    #expect(
      Set(device.rows.compactMap { $0.attributes["acct"]?.string }) == [
        "name", "swift-keyring:value,username,name", "swift-keyring:credentials,label,name",
      ])
  }

  @Test(arguments: [TestKeychain.dataProtection, .fileBased])
  func `items of other programs are found`(keychain: TestKeychain) throws {
    let storage = keychain.storage(on: device)
    func generic(_ entries: KeychainDictionary) -> KeychainDictionary {
      entries.merging([
        .itemClass: .constant(.genericPassword), .data: .data(Secret("s3cret")),
      ]) { $1 }
    }
    add(generic([.account: .text("alone")]), to: keychain)
    add(generic([.service: .text("alone")]), to: keychain)
    add(
      generic([
        .service: .text("service"), .account: .text("account"), .comment: .text("a comment"),
        .generic: .data(Secret("theirs")),
      ]), to: keychain)
    add(
      [
        .itemClass: .constant(.internetPassword), .server: .text("example.org"),
        .data: .data(Secret("s3cret")), .protocol: .text("imps"), .account: .text("me"),
        .description: .text("Web form password"),
      ], to: keychain)
    // This one has no name at all.
    add(generic([:]), to: keychain)

    let server = InternetServer("example.org", protocol: .imaps)
    let keys: [ItemKey] = [
      ItemKey(kind: .password, attributes: ["username": "alone"]),
      ItemKey(kind: .password, attributes: ["service": "alone"]), key,
      .internetPassword(server: server, account: "me"),
    ]
    let found = try storage.items(matching: ItemQuery(details: .all))
    #expect(Set(found.map(\.key)) == Set(keys))
    #expect(found.allSatisfy { $0.secret == Secret("s3cret") })
    for key in keys { #expect(try storage.password(for: key) == "s3cret") }
    #expect(try storage.item(for: key)?.attributes == ["comment": "a comment"])

    // A new secret keeps what the other program has stored, which nothing else replaces either.
    for key in keys {
      try storage.setPassword("changed", for: key)
      #expect(try storage.password(for: key) == "changed")
    }
    let row = try #require(device.rows.first { $0.attributes["icmt"] != nil })
    #expect(row.attributes["gena"] == .data(Array("theirs".utf8)))
    expectError(.invalidArgument) {
      try storage.save(SecureItem(key: key, attributes: ["a": "b"]), mode: .update)
    }
    // An item without attributes has room for them.
    try storage.save(SecureItem(key: keys[0], attributes: ["a": "b"]), mode: .update)
    #expect(try storage.item(for: keys[0])?.attributes == ["a": "b"])
    // A comment has a place of its own.
    try storage.save(SecureItem(key: key, attributes: ["comment": "new"]), mode: .update)
    #expect(try storage.item(for: key)?.attributes == ["comment": "new"])
    #expect(device.rows.contains { $0.attributes["gena"] == .data(Array("theirs".utf8)) })
    #expect(device.rows.count == 5)
    #expect(try storage.removeItems(matching: .service("service")) == 1)
  }

  @Test(arguments: TestKeychain.allCases)
  func `an empty part isn't a missing one`(keychain: TestKeychain) throws {
    let storage = keychain.storage(on: device)
    let passwords = [
      ["service": "s"], ["service": "s", "username": ""], ["username": "u"],
      ["service": "", "username": "u"], ["service": "", "username": ""],
    ]
    let servers = [["server": "h"], ["server": "h", "user": ""], ["server": "h", "object": ""]]
    let keys =
      passwords.map { ItemKey(kind: .password, attributes: $0) }
      + servers.map { ItemKey(kind: .internetPassword, attributes: $0) }
    for key in keys {
      try storage.setPassword(key.description, for: key, mode: .add)
      try storage.save(SecureItem(key: key, attributes: ["a": key.description]), mode: .update)
    }
    #expect(device.rows.count == 8)
    let found = try storage.items(matching: ItemQuery(details: .all))
    #expect(found.count == 8 && Set(found.map(\.key)) == Set(keys))
    #expect(found.allSatisfy { $0.secret == Secret($0.key.description) })
    for key in keys {
      #expect(try storage.password(for: key) == key.description)
      #expect(try storage.items(matching: ItemQuery(kind: key.kind)).map(\.key).contains(key))
    }
    // A group without a name is the storage's own as an entry, and another key.
    let group = ItemKey(
      kind: .password, attributes: ["service": "s", "username": "u", "accessGroup": ""])
    try storage.setPassword("s3cret", for: group, mode: .add)
    #expect(
      try storage.password(for: .password(service: "s", account: "u")) == nil)
    #expect(try storage.items(matching: ItemQuery()).map(\.key).contains(group))
    for key in keys + [group] { #expect(try storage.remove(key)) }
    #expect(device.rows.isEmpty)
  }

  @Test(arguments: [TestKeychain.dataProtection, .fileBased])
  func `each item that is listed can be read`(keychain: TestKeychain) throws {
    let storage = keychain.storage(on: device)
    for empty in [KeychainValue.text(""), .data(Secret("")), .number(0)] {
      for entry in [KeychainEntry.protocol, .authenticationType, .account, .port] {
        let server = "\(entry) \(empty)"
        var item: KeychainDictionary = [
          .itemClass: .constant(.internetPassword), .server: .text(server),
          .data: .data(Secret("s3cret")),
          .usesDataProtection: .boolean(keychain != .fileBased),
        ]
        item[entry] = empty
        _ = StandInKeychain(device).add(item)
      }
    }
    let found = try storage.items(matching: ItemQuery())
    #expect(found.count > 3)
    for item in found { #expect(try storage.password(for: item.key) == "s3cret") }
  }

  /// An internet password of another program with an authentication type, or without one.
  private func item(_ type: KeychainValue?) -> KeychainDictionary {
    var item: KeychainDictionary = [
      .itemClass: .constant(.internetPassword), .server: .text("example.org"),
      .account: .text("me"), .data: .data(Secret("s3cret")),
    ]
    item[.authenticationType] = type
    return item
  }

  /// The forms of no authentication type in the file: not given, and given as one that Apple doesn't name.
  @Test(arguments: [nil, KeychainValue.text(""), .text("mine")])
  func `an item without an authentication type is one item in both forms`(
    form: KeychainValue?
  ) throws {
    let storage = AppleKeychainStorage(.fileBased, on: device)
    let key = ItemKey.internetPassword(server: InternetServer("example.org"), account: "me")
    add(item(.text("form")), to: .fileBased)
    #expect(try storage.password(for: key) == nil)
    #expect(try !storage.remove(key))
    add(item(form), to: .fileBased)
    #expect(try Set(storage.items(matching: ItemQuery()).map(\.key)).count == 2)
    #expect(try storage.password(for: key) == "s3cret")
    expectError(.itemAlreadyExists) { try storage.setPassword("x", for: key, mode: .add) }
    try storage.save(
      SecureItem(key: key, secret: Secret("new"), attributes: ["a": "1"]), mode: .addOrReplace)
    try storage.save(SecureItem(key: key, attributes: ["b": "2"]), mode: .update)
    #expect(try storage.item(for: key)?.attributes == ["a": "1", "b": "2"])
    #expect(
      try storage.items(matching: ItemQuery(details: .all)).first { $0.key == key }?.secret
        == Secret("new"))
    let memory = InMemoryStorage()
    #expect(try Migration(of: ItemQuery(), from: storage, to: memory).move().count == 2)
    #expect(device.rows.isEmpty)
    #expect(try memory.password(for: key) == "new")
    add(item(form), to: .fileBased)
    #expect(try storage.remove(key) && device.rows.isEmpty)
  }

  @Test(arguments: [false, true])
  func `a copy that the source keeps after a move is an error`(byKey: Bool) throws {
    let storage = AppleKeychainStorage(.fileBased, on: device)
    let key = ItemKey.internetPassword(server: InternetServer("example.org"), account: "me")
    // One key in both forms: removing leaves the other one.
    for form in [nil, KeychainValue.text("")] { add(item(form), to: .fileBased) }
    let memory = InMemoryStorage()
    let migration =
      byKey
      ? Migration(of: [key], from: storage, to: memory)
      : Migration(of: ItemQuery(), from: storage, to: memory)
    expectError(.verificationFailed) { try migration.move() }
    #expect(device.rows.count == 1)
    #expect(try migration.move().count == 1)
    #expect(device.rows.isEmpty)
  }

  @Test(arguments: TestKeychain.allCases, Faults.positions)
  func `a secret can become empty, and the rest stays`(
    keychain: TestKeychain, faults: Faults
  ) throws {
    device.faults = faults
    let storage = keychain.storage(on: device)
    let server = ItemKey.internetPassword(server: InternetServer("example.org"), account: "me")
    for key in [key, server] {
      for mode in [SaveMode.update, .addOrReplace] {
        try storage.save(
          SecureItem(
            key: key, secret: Secret("old"), label: "label", attributes: ["a": "1", "comment": "c"]),
          mode: .addOrReplace)
        try storage.save(
          SecureItem(key: key, secret: Secret(""), attributes: ["b": "2"]), mode: mode)
        let item = try storage.item(for: key)
        #expect(item?.secret == Secret("") && item?.label == "label")
        #expect(item?.attributes == ["a": "1", "b": "2", "comment": "c"])
        try storage.setPassword("", for: key)
        try storage.save(
          SecureItem(key: key, secret: Secret(""), attributes: ["b": "3"]), mode: mode)
        #expect(try storage.item(for: key)?.attributes?["b"] == "3")
        try storage.setPassword("new", for: key)
        #expect(try storage.password(for: key) == "new")
      }
    }
    #expect(device.rows.count == 2 && device.prompts.isEmpty)
  }

  @Test func `an account that is data is text`() throws {
    let storage = AppleKeychainStorage(on: device)
    add(
      [
        .itemClass: .constant(.genericPassword), .service: .text("service"),
        .account: .data(Secret("account")), .data: .data(Secret("s3cret")),
      ], to: .dataProtection)
    #expect(try storage.password(for: key) == "s3cret")
    #expect(try storage.items(matching: ItemQuery()).map(\.key) == [key])
  }

  @Test func `an item without data has an empty secret`() throws {
    let storage = AppleKeychainStorage(on: device)
    add(
      [
        .itemClass: .constant(.genericPassword), .service: .text("service"),
        .account: .text("account"),
      ], to: .dataProtection)
    #expect(try storage.secret(for: key) == Secret(""))
    #expect(try storage.items(matching: ItemQuery(details: .all)).map(\.secret) == [Secret("")])
  }

  @Test func `a synchronizable item is beside a local one`() throws {
    let local = AppleKeychainStorage(on: device)
    let shared = AppleKeychainStorage(.dataProtection(synchronizable: true), on: device)
    try shared.setPassword("shared", for: key)
    #expect(try local.password(for: key) == nil)
    try local.setPassword("local", for: key)
    #expect(try shared.password(for: key) == "shared")
    #expect(
      try shared.items(matching: ItemQuery(details: .all)).map(\.secret) == [Secret("shared")])
    #expect(try local.remove(key))
    #expect(try shared.password(for: key) == "shared")
    #expect(Set(device.rows.map { $0.attributes["pdmn"]?.string }) == ["ck"])
  }

  @Test(arguments: TestKeychain.allCases)
  func `text keeps its bytes in every part`(keychain: TestKeychain) throws {
    let storage = keychain.storage(on: device)
    let texts = [
      "\u{FEFF}text", "text", "\u{E9}", "e\u{301}", "swift-keyring:", "swift-keyring::text",
      "swift-keyring:password,username,text", "a,b%2C,c", "%", ",\u{301}",
    ]
    var keys: [ItemKey] = []
    for text in texts {
      let server = InternetServer(text, path: text, securityDomain: text)
      keys += [
        .password(service: text, account: text), .password(service: text, account: "account"),
        .credentials(service: text, label: text), .value(service: "service", account: text),
        .internetPassword(server: server, account: text),
        .internetPassword(server: InternetServer("host", protocol: .init(rawValue: text))),
        ItemKey(kind: .password, attributes: ["username": text]),
        ItemKey(kind: .password, attributes: ["service": text]),
      ]
    }
    for (index, key) in keys.enumerated() {
      let text = texts[index / 8]
      let item = SecureItem(
        key: key, secret: Secret("\(index)"), label: text,
        attributes: [
          text.contains(":") || text.contains(",") ? "name" : text: text, "comment": text,
        ])
      try storage.save(item, mode: .add)
    }
    let found = try storage.items(matching: ItemQuery(details: .all))
    #expect(Set(found.map(\.key)) == Set(keys))
    for (index, key) in keys.enumerated() {
      let text = Array(texts[index / 8].utf8)
      let item = try #require(try storage.item(for: key))
      #expect(item.secret == Secret("\(index)"))
      #expect(item.label.map { Array($0.utf8) } == text)
      #expect(item.attributes?.count == 2)
      #expect(item.attributes?.values.allSatisfy { Array($0.utf8) == text } == true)
      let other = try #require(found.first { $0.key == key })
      #expect(other == item)
    }
    for bad in ["nul\0", "\0"] {
      expectError(.invalidArgument) {
        try storage.setPassword("s3cret", for: .password(service: "service", account: bad))
      }
    }
  }
}
#endif
