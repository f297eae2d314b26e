// SPDX-License-Identifier: Apache-2.0

internal import Keyring
internal import KeyringStorage

// Rules 1 and 4: missing items are `nil`, and bytes read back unchanged.
extension ContractTrial {
  func missingIsEmpty() throws {
    try expect(secret(password()) == nil, "a missing item was read")
    try expect(storage.password(for: password()) == nil, "a password was read")
    try expect(storage[credentials(), as: .credential].read() == nil, "a credential was read")
    try expect(!storage.exists(password()), "a missing item exists")
    let items = try storage.items(matching: .service(service, details: .all))
    try expect(items.isEmpty, "a service without items has \(items.count)")
    try save("present", password())
    try expect(storage.exists(password()), "a stored item does not exist")
    try expect(secret(password("another")) == nil, "a missing item was read beside a stored one")
  }

  func keysAreReadAtOnce() throws {
    let keys: [ItemKey] = [
      password("first"), password("second"), password("absent"), password("not text"),
      .value(service: service, account: "first"), credentials("first"), credentials("absent"),
      .internetPassword(server: InternetServer(service), account: "first"),
    ]
    for (index, key) in keys.enumerated() where !"\(key)".contains("absent") {
      try save("secret \(index)", key)
    }
    try storage.save(SecureItem(key: keys[3], secret: Secret(bytes: [0xFF])), mode: .update)
    try storage[keys[5], as: .credential].write(Credential(login: "login", password: "secret"))
    for details in [ItemQuery.Details.secret, .metadata, .all, []] {
      let items = try storage.items(for: keys + [keys[0]], details: details)
      for key in keys {
        try expect(
          items[key] == storage.item(for: key, details: details),
          "reading many keys finds another item under \(key) than reading it alone")
      }
      try expect(items.count == keys.count - 2, "reading many keys finds \(items.count)")
    }
    try expect(storage.items(for: [], details: .all).isEmpty, "reading no keys finds something")
  }

  func secretsAreReadAlone() throws {
    let keys = [password(), password("another"), credentials()]
    for round in ["first", "second"] {
      for (index, key) in keys.enumerated() {
        try save("\(round) \(index)", key)
        let found = try (storage.secret(for: key), storage.secret(for: key))
        try expect(
          found == (Secret("\(round) \(index)"), Secret("\(round) \(index)")),
          "the secret of \(key) alone is another one than that of the item")
      }
    }
    try storage.save(SecureItem(key: keys[0], label: "renamed"), mode: .update)
    for key in keys {
      try expect(
        storage.secret(for: key) == secret(key),
        "after a label has changed the secret of \(key) alone is another one")
    }
    try storage.remove(keys[0])
    for key in [keys[0], password("absent")] {
      try expect(storage.secret(for: key) == nil, "alone a missing secret was read")
    }
    try expect(.invalidArgument, of: "reading a secret with an empty account") {
      _ = try storage.secret(for: password(""))
    }
  }

  func undecodableIsNotMissing() throws {
    let notText = Secret(bytes: [0xFF, 0xFE, 0x00, 0xC0])
    try storage.save(SecureItem(key: password(), secret: notText), mode: .add)
    try expect(.undecodable, of: "reading bytes as text") {
      _ = try storage.password(for: password())
    }
    try expect(secret(password()) == notText, "reading an item as another type changed it")
  }

  func lockedIsNotMissing() throws {
    try save("present", password())
    try whileLocked { storage in
      try expect(storage.isLocked(), "a locked storage says that it is not")
      try storage.lock()
      try expect(.locked, of: "reading a locked item") { _ = try secret(password()) }
      try expect(.locked, of: "reading a locked secret alone") {
        _ = try storage.secret(for: password())
      }
      try expect(.locked, of: "finding a locked item") {
        _ = try storage.items(matching: .service(service, details: .metadata))
      }
      try expect(.locked, of: "saving over a locked item") { try save("other", password()) }
      try expect(.locked, of: "adding to a locked storage") {
        try save("other", password("another"))
      }
      let exists: Bool
      do throws(SecureStorageError) {
        exists = try storage.exists(password())
      } catch {
        try expect(error.code == .locked, "looking for a locked item threw \(error.code)")
        return
      }
      try expect(exists, "a locked item does not exist")
    }
    try expectStored("present", password(), "after unlocking")
    try expect(!storage.exists(password("another")), "a refused addition made an item")
  }

  /// Runs a closure while the storage is locked, and always unlocks the storage afterwards.
  func whileLocked(
    unlocking unlock: ((any LockableStorage) throws -> Void)? = nil,
    _ body: (any LockableStorage) throws -> Void
  ) throws {
    guard let lockable = storage as? any LockableStorage else {
      throw violation("the case is for a LockableStorage")
    }
    try lockable.lock()
    let outcome = Result { try body(lockable) }
    try (unlock ?? self.unlock)(lockable)
    try outcome.get()
    try expect(!lockable.isLocked(), "an unlocked storage says that it is locked")
  }

  func bytesComeBack() throws {
    let megabyte = (0..<(1 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
    let samples: [(name: String, bytes: [UInt8])] = [
      ("one NUL", [0]),
      ("text around a NUL", Array("before\0after".utf8)),
      ("all byte values", Array(0...255)),
      ("bytes that are not UTF-8", [0xC3, 0x28, 0xFF, 0xED, 0xA0, 0x80]),
      ("line ends and spaces", Array(" \r\n\t trailing \n".utf8)),
      ("text after a byte order mark", Array("\u{FEFF}text".utf8)),
      ("16 bytes, a whole block of a cipher", Array(repeating: 0x10, count: 16)),
      ("1 MiB", megabyte),
      ("the largest secret", [UInt8](repeating: 0x78, count: try secretByteLimit())),
    ]
    for (name, bytes) in samples {
      let key = password(name)
      try storage.save(SecureItem(key: key, secret: Secret(bytes: bytes)), mode: .addOrReplace)
      try expect(secret(key) == Secret(bytes: bytes), "\(name) did not come back")
    }
    // The new item must not keep the content type of the old one.
    try storage.save(SecureItem(key: password(), secret: Secret(bytes: [0xFF, 0])), mode: .add)
    try save("text", password())
    try expectStored("text", password(), "after bytes were replaced by text")
  }

  /// Returns the storage's limit, which must not be larger than that of all storages.
  func secretByteLimit() throws -> Int {
    let (limit, largest) = (storage.secretByteLimit, ItemLimits.secretBytes)
    try expect((0...largest).contains(limit), "the limit of \(limit) bytes isn't in 0...\(largest)")
    return limit
  }

  func emptyIsNotMissing() throws {
    try save("", password())
    try expect(secret(password()) == Secret(""), "an empty secret is missing or another one")
    try expect(storage.password(for: password()) == "", "an empty password is missing")
    try expect(storage.exists(password()), "an item with an empty secret does not exist")
    // A secret can also become empty, alone or together with its label.
    try save("present", password())
    try save("", password())
    try expect(secret(password()) == Secret(""), "a secret that became empty is missing")
    try save("present", password())
    try storage.save(
      SecureItem(key: password(), secret: Secret(""), label: "Another label"), mode: .addOrReplace)
    let item = try storage.item(for: password())
    try expect(
      item?.secret == Secret("") && item?.label == "Another label",
      "a secret that became empty with another label is missing or another one")
    let credential = Credential(login: "", password: "")
    try storage[credentials(), as: .credential].write(credential)
    try expect(
      storage[credentials(), as: .credential].read() == credential,
      "an empty credential is missing or another one")
  }

  func textIsNotNormalized() throws {
    let composed = "\u{E9}"
    let decomposed = "e\u{301}"
    for text in [composed, decomposed, "\u{1F469}\u{200D}\u{1F4BB}", "\"'\\%*?\n"] {
      let key = password(text)
      try save(text, key)
      try expect(secret(key) == Secret(text), "the text \(Array(text.utf8)) did not come back")
      let credential = Credential(login: text, password: text)
      try storage[credentials(text), as: .credential].write(credential)
      let found = try storage[credentials(text), as: .credential].read()
      try expect(
        found.map { Array($0.login.utf8) } == Array(text.utf8),
        "the login \(Array(text.utf8)) did not come back")
    }
    // A login that differs only in its normalization is a different login.
    for login in [composed, decomposed] {
      try storage[credentials(), as: .credential].write(Credential(login: login, password: login))
      let found = try storage[credentials(), as: .credential].read()
      try expect(
        found.map { Array($0.login.utf8) } == Array(login.utf8),
        "a login that changed only in its normalization did not change")
    }
    try save("decomposed", password(decomposed))
    try expect(
      secret(password(composed)) == Secret(composed),
      "two accounts that look the same are the same item")
    try namesAreNotNormalized(composed, decomposed)
  }

  private func namesAreNotNormalized(_ composed: String, _ decomposed: String) throws {
    let keys = [composed, decomposed].flatMap { text in
      [
        ItemKey(kind: ItemKind(rawValue: text), attributes: ["service": service]),
        ItemKey(kind: .password, attributes: ["service": service, text: "value"]),
      ]
    }
    for (index, key) in keys.enumerated() { try save("value \(index)", key, mode: .add) }
    for (index, key) in keys.enumerated() {
      try expectStored("value \(index)", key, "after saving keys whose names look the same")
    }
    let item = SecureItem(
      key: password("named"), secret: Secret("named"), attributes: [composed: "attribute"])
    try storage.save(item, mode: .add)
    for (name, count) in [(composed, 1), (decomposed, 0)] {
      let query = ItemQuery(attributes: ["service": service, name: "attribute"])
      let found = try storage.items(matching: query).count
      try expect(found == count, "of names that look the same \(Array(name.utf8)) finds \(found)")
    }
  }

  func byteOrderMarksAreKept() throws {
    let text = "text"
    let marked = "\u{FEFF}text"
    for account in [marked, text] { try save(account, password(account), mode: .add) }
    try expect(secret(password(marked)) == Secret(marked), "an account lost its byte order mark")
    let credential = credentials(marked)
    for login in [text, marked] {
      try storage[credential, as: .credential].write(Credential(login: login, password: login))
      let found = try storage[credential, as: .credential].read()?.login
      try expect(
        found.map { Array($0.utf8) } == Array(login.utf8), "a login lost its byte order mark")
    }
  }
}
