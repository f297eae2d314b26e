// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Foundation
import Keyring
import KeyringFile
import KeyringMigration
import KeyringStorage
import StorageModel
import Testing

@testable import KeyringSecretService

/// A gnome-keyring whose default collection has no password, so that its file is text.
@Suite(.withOwnKeyring) struct PasswordlessKeyringTests {
  private let bus: PrivateBus
  private let keyring: GnomeKeyring

  init() throws {
    (bus, keyring) = try PrivateBus.with { try GnomeKeyring(on: $0, hasPassword: false) }
  }

  private static let pem = """
    -----BEGIN PRIVATE KEY-----
    c3dpZnQta2V5cmluZw==
    -----END PRIVATE KEY-----

    """

  @Test(.tags(.slow)) func `every secret survives a restart if the file can't be seen`() throws {
    var trial = SecretTrial(bus, keyring)
    try trial.run()
  }

  @Test(.tags(.slow)) func `every secret survives a restart if the file can be seen`() async {
    await #expect(processExitsWith: .success) {
      let (bus, keyring) = try PrivateBus.with { try GnomeKeyring(on: $0, hasPassword: false) }
      setenv("XDG_DATA_HOME", keyring.home, 1)
      var trial = SecretTrial(bus, keyring)
      try trial.run()
    }
  }

  @Test func `another program's item never gets a text that its file would change`() throws {
    let theirs = ["service": "service", "username": "account"]
    try SecretTool.store("theirs", label: "Theirs", theirs, on: bus)
    let storage = bus.storage()
    let key = ItemKey.password(service: "service", account: "account")
    for attributes in [nil, ["comment": "new"]] {
      let item = SecureItem(key: key, secret: Secret(Self.pem), attributes: attributes)
      let error = expectError(.invalidArgument, argument: "secret", says: "\"Theirs\"") {
        try storage.save(item, mode: .addOrReplace)
      }
      #expect(error?.recoverySuggestion?.contains("password") == true)
      #expect(try SecretTool.lookup(theirs, on: bus) == "theirs")
    }
    try storage.setPassword("ours", for: key)
    #expect(try SecretTool.lookup(theirs, on: bus) == "ours")
  }

  @Test func `a raw secret that another program puts under the mark is read as it is`() throws {
    let storage = bus.storage()
    let key = ItemKey.password(service: "service", account: "account")
    try storage.setPassword("one", for: key)
    let item = try #require(bus.search(["service": "service"]).first)
    #expect(try bus.storedSecret(of: item) == Secret("one"))
    try storage.setPassword(Self.pem, for: key)
    #expect(try bus.search(["service": "service", "swift-keyring:binary": "yes"]) == [item])
    #expect(try bus.storedSecret(of: item) == Secret(Self.pem).binaryForm)
    #expect(try storage.item(for: key)?.attributes == [:])
    for theirs in ["theirs", "a\nb"] {
      try openSession(at: bus.address).setSecret(theirs, of: item)
      #expect(try storage.password(for: key) == theirs)
    }
    try storage.setPassword("two", for: key)
    #expect(try bus.storedSecret(of: item) == Secret("two"))
    #expect(try storage.password(for: key) == "two")
  }

  @Test func `doctor names a collection without a password`() async {
    await #expect(processExitsWith: .success) {
      let (bus, keyring) = try PrivateBus.with { try GnomeKeyring(on: $0, hasPassword: false) }
      let storage = bus.storage()
      #expect(storage.diagnose().findings.allSatisfy { $0.subject != "collection's file" })
      #expect(storage.diagnose().protection == .keyring)
      try storage.lock()
      #expect(storage.diagnose().protection == .keyring, "it opens without a question")
      _ = try PasswordCollection(label: "Other", on: bus)
      setenv("XDG_DATA_HOME", keyring.home, 1)
      #expect(
        bus.storage(in: .named("Other")).diagnose().protection == .keyring,
        "its password may be in the default collection")
      for writing in [false, true] {
        let diagnosis = storage.diagnose(writing: writing)
        let finding = try #require(
          diagnosis.findings.first { $0.subject == "collection's file" })
        #expect(finding.state == .notice)
        #expect(finding.text.contains("\(keyring.home)/keyrings/login.keyring isn't encrypted"))
        #expect(diagnosis.failure == nil && diagnosis.protection == .keyFile)
      }
    }
  }

  @Test func `doctor fails if the file of the default collection is damaged`() async {
    await #expect(processExitsWith: .success) {
      let (bus, keyring) = try PrivateBus.with { try GnomeKeyring(on: $0, hasPassword: false) }
      let storage = bus.storage()
      setenv("XDG_DATA_HOME", keyring.home, 1)
      let other = try PasswordCollection(label: "Other", on: bus)
      try SecretTool.store("a\nb", label: "Theirs", ["theirs": "yes"], on: bus)
      try keyring.kill()
      try keyring.start(unlocked: false)
      let diagnosis = storage.diagnose()
      #expect(diagnosis.failure?.code == .damaged, "\(diagnosis)")
      #expect(diagnosis.description.contains("\(keyring.home)/keyrings/login.keyring"))
      try other.makeDefault()
      let another = storage.diagnose()
      #expect(another.failure?.code != .damaged, "\(another)")
      #expect(another.description.contains("\(keyring.home)/keyrings/login.keyring"))
    }
  }
}

/// The files of collections in the private session, which can be seen.
@Suite(.inPrivateSession, .only(on: .gnomeKeyring, "is about the files of gnome-keyring"))
struct CollectionFileTests {
  @Test func `the form of a text follows the collection's password`() throws {
    try PasswordCollection.whileThere { collection, storage in
      let service = PrivateSession.newService()
      var password = PasswordCollection.password
      for (number, new) in ["", "another", ""].enumerated() {
        for account in ["known", "new \(number)"] {
          let key = ItemKey.password(service: service, account: account)
          for text in ["a\nb\(number)", "raw \(number)", "\\ \(number)"] {
            try storage.setPassword(text, for: key)
            #expect(try storage.password(for: key) == text)
            let isRaw = !password.isEmpty || CollectionFile.textKeeps(Secret(text))
            let found = try SecretTool.lookup(["service": service, "username": account])
            #expect((found == text) == isRaw, "\(text.debugDescription), number \(number)")
          }
        }
        try collection.change(from: password, to: new)
        password = new
      }
    }
  }

  @Test func `a text file keeps all but a few texts`() {
    let controls = (1..<32).map { UInt8($0) } + [0x7F]
    for byte in controls + (32..<127).map({ UInt8($0) }) {
      let isLineOrEscape = byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\\")
      let isBlank = " \t\r\u{C}".utf8.contains(byte)
      let a = UInt8(ascii: "a")
      #expect(CollectionFile.textKeeps(Secret(bytes: [a, byte, a])) != isLineOrEscape)
      #expect(CollectionFile.textKeeps(Secret(bytes: [byte, a])) != (isLineOrEscape || isBlank))
      let isDropped = byte == UInt8(ascii: "\r")
      #expect(CollectionFile.textKeeps(Secret(bytes: [a, byte])) != (isLineOrEscape || isDropped))
    }
    for bytes: [UInt8] in [[], [0xFF, 10], [10, 0], [0x5C, 0xC3]] {
      #expect(CollectionFile.textKeeps(Secret(bytes: bytes)))
    }
  }
}

/// Secrets that look as if they had the form in which a text file keeps them.
@Suite(.inPrivateSession) struct BinaryFormTests {
  @Test func `a secret that looks like the binary form is read back`() throws {
    let storage = SecretServiceStorage(collection: Provider.current.fastestCollection)
    let key = ItemKey.password(service: PrivateSession.newService(), account: "account")
    let form = Secret("a").binaryForm
    for secret in [form, form.binaryForm, form[0..<form.count - 1]] {
      try storage[key, as: .secret].write(secret)
      #expect(try storage.secret(for: key) == secret)
    }
    try storage[key, as: .secret].write(nil)
  }
}

/// Hundreds of secrets that a keyring has to keep across a restart.
private struct SecretTrial {
  private let bus: PrivateBus
  private let keyring: GnomeKeyring
  private var generator = SeededGenerator(seed: SeededGenerator.seed)

  init(_ bus: PrivateBus, _ keyring: GnomeKeyring) {
    self.bus = bus
    self.keyring = keyring
  }

  mutating func run() throws {
    let storage = bus.storage()
    let theirs = ["theirs": "yes"]
    try SecretTool.store("{\"theirs\": [1]}", label: "Theirs", theirs, on: bus)
    var expected: [ItemKey: Secret] = [:]
    for number in 0..<300 {
      let key = key(number)
      if generator.oneIn(4) {
        // A text of the other kind is replaced.
        try storage[key, as: .secret].write(secret())
      }
      let secret = number < Self.fixed.count ? Secret(Self.fixed[number]) : secret()
      expected[key] = secret
      if key.kind == .credentials, let credential = Credential(login: Self.login, secret: secret) {
        // The login is an attribute.
        try storage[key, as: .credential].write(credential)
      } else {
        try storage[key, as: .secret].write(secret)
      }
    }
    let value = ["line\nline", "\"quoted\"", "\\", "/", "\u{8}\u{1}\u{2028}", " "]
    let values = storage.service("values")
    try values.value("value").write(value)
    for round in ["lock", "restart", "second restart"] {
      if round == "lock" {
        try storage.lock()
        try storage.unlock()
      } else {
        try keyring.kill()
        try keyring.start()
      }
      let comment: Comment = "after \(round), with KEYRING_TEST_SEED=\(SeededGenerator.seed)"
      for (key, secret) in expected {
        let isSame = try storage.secret(for: key) == secret
        #expect(isSame, "\(key) \(secret.withUnsafeBytes { Array($0.prefix(60)) }) \(comment)")
        if key.kind == .credentials, secret.isUTF8 {
          #expect(try storage[key, as: .credential].read()?.login == Self.login, comment)
        }
        guard CollectionFile.textKeeps(secret), let item = try bus.search(key.ownAttributes).first
        else { continue }
        #expect(try bus.storedSecret(of: item) == secret, comment)
      }
      #expect(try values.value("value", as: [String].self).read() == value, comment)
      #expect(try SecretTool.lookup(theirs, on: bus) == "{\"theirs\": [1]}", comment)
      // The next file is written with the content that was read from this one.
      try storage.setPassword(round, for: .password(service: "another", account: "account"))
    }
  }

  private func key(_ number: Int) -> ItemKey {
    switch number % 3 {
    case 0: .password(service: "service", account: "\(number)")
    case 1: .value(service: "service", account: "\(number)")
    default: .credentials(service: "service", label: "\(number)")
    }
  }

  private static let login = "l\n\\ "

  private static let fixed: [String] =
    [
      "", " ", "\n", "\r", "\r\n", "\\", "a\n", "a\\", "a\r", " a ", "\ta", "\u{C}a", "\u{B}a",
      "a\n[keyring]\nctime=0", "a\nb=c", "[section]", "\n[section]\n", "#", "=", "a\n#", "a\\sb",
      "a\\\\",
      "-----BEGIN X-----\nYQ==\n-----END X-----\n", "\u{FEFF}a", "\u{2028}", "\u{A0}a\u{A0}",
      #"{"a":"\"\\\/\b\f\n\r\t\u0000\u00e9\ud83d\ude00"}"#, #"\u000a"#, #"\""#, #"\/"#, #"\b"#,
      String(repeating: "x", count: 20_000), String(repeating: "x\n", count: 5000),
    ]
    + (0..<32).flatMap { byte in
      let scalar = String(UnicodeScalar(UInt8(byte)))
      return [scalar, "a\(scalar)b", "a\(scalar)"]
    }

  /// Returns a random secret, most of which are text.
  private mutating func secret() -> Secret {
    let length = Int.random(in: 0..<generator.pick([4, 20, 300]), using: &generator)
    if generator.oneIn(6) {
      return Secret(bytes: (0..<length).map { _ in UInt8.random(in: 0...255, using: &generator) })
    }
    let pieces = [
      "\n", "\\", " ", "\t", "\r", "=", "#", "[", "]", "\"", "/", ";", "é", "😀", "\u{7F}",
    ]
    return Secret(
      (0..<length).map { _ in
        if generator.oneIn(3) { return generator.pick(pieces) }
        let range = generator.oneIn(20) ? 1..<UInt8(32) : 33..<UInt8(127)
        return String(UnicodeScalar(UInt8.random(in: range, using: &generator)))
      }.joined())
  }
}

extension PrivateBus {
  /// Returns the secret of an item as another program reads it.
  fileprivate func storedSecret(of item: ObjectPath) throws -> Secret {
    let session = try openSession(at: address)
    let answer = try session.ask(.getSecrets([item], session: session.path))
    let entry = try #require(answer.child(0).children.first)
    return try #require(session.decode(entry.child(1)))
  }
}
#endif
