// SPDX-License-Identifier: Apache-2.0

internal import Keyring
internal import KeyringPlatform
internal import KeyringStorage

/// The trial of contents: bytes, text and values come back as they were.
extension ContractTrial {
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

  func valuesComeBack() throws {
    struct Session: Codable, Sendable, Equatable {
      var token: String
      var scopes: [String]
      var expires: Date?
    }
    let scope = storage.service(service)
    let session = Session(
      token: "\"t\u{F6}ken\"\n", scopes: ["read", "write"], expires: Date(timeIntervalSince1970: 0))
    let value = scope.value("session", as: Session.self)
    try value.write(session)
    try expect(value.read() == session, "a value did not come back")
    try scope.value("text").write("text")
    try expect(
      scope.value("text", as: String.self).read() == "text", "a text value did not come back")

    let bytes: [UInt8] = [0, 0xFF, 0x22]
    try scope.value("bytes").write(bytes)
    try scope.value("data").write(Data(bytes))
    for account in ["bytes", "data"] {
      let key = ItemKey.value(service: service, account: account)
      try expect(secret(key) == Secret(bytes: bytes), "\(account) are not stored as they are")
      try expect(
        scope.value(account, as: [UInt8].self).read() == bytes, "\(account) did not come back")
      try expect(
        scope.value(account, as: Data.self).read() == Data(bytes), "\(account) did not come back")
    }

    try expect(.undecodable, of: "reading a value as another type") {
      _ = try scope.value("session", as: [Int].self).read()
    }
    try expect(value.read() == session, "reading a value as another type changed it")
    try expect(.invalidArgument, "value", of: "saving a value that JSON can't represent") {
      try scope.value("session").write(Double.infinity)
    }
    try expect(value.read() == session, "a refused value changed the old one")
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
    let empty = Credential(login: "", password: "")
    try credential().write(empty)
    try expect(credential().read() == empty, "an empty credential is missing or another one")
  }

  func textIsNotNormalized() throws {
    let composed = "\u{E9}"
    let decomposed = "e\u{301}"
    for text in [composed, decomposed, "\u{1F469}\u{200D}\u{1F4BB}", "\"'\\%*?\n"] {
      let key = password(text)
      try save(text, key)
      try expect(secret(key) == Secret(text), "the text \(Array(text.utf8)) did not come back")
      try expectLogin(text, text, "the login \(Array(text.utf8)) did not come back")
    }
    // A login that differs only in its normalization is a different login.
    for login in [composed, decomposed] {
      try expectLogin(
        login, "label", "a login that changed only in its normalization did not change")
    }
    try save("decomposed", password(decomposed))
    try expect(
      secret(password(composed)) == Secret(composed),
      "two accounts that look the same are the same item")
    try namesAreNotNormalized(composed, decomposed)
  }

  /// Writes a login under a label, and expects that it comes back byte for byte.
  private func expectLogin(_ login: String, _ label: String, _ otherwise: String) throws {
    let credential = credential(label)
    try credential.write(Credential(login: login, password: login))
    let found = try credential.read()?.login
    try expect(found.map { Array($0.utf8) } == Array(login.utf8), otherwise)
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
    for login in [text, marked] {
      try expectLogin(login, marked, "a login lost its byte order mark")
    }
  }
}
