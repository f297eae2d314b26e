// SPDX-License-Identifier: Apache-2.0

import Keyring
import KeyringStorage
import KeyringToolCommands
import Testing

@Suite struct ItemCommandsTests {
  private let storage = InMemoryStorage()
  private let password = ItemSelection(service: "service", account: "me")
  private let credential = ItemSelection(service: "service", credential: "mine")
  private let internet = ItemSelection(
    account: "me", server: InternetServer("example.org", port: 8443, protocol: "https"))
  private var commands: ItemCommands { ItemCommands(storage) }

  @Test func `the commands set, get and remove items of each kind`() throws {
    for (selection, login) in [(password, nil), (credential, "ada"), (internet, nil)] {
      #expect(throws: ToolFailure.self) { try commands.secret(selection) }
      #expect(throws: ToolFailure.self) { try commands.metadata(selection) }
      try commands.set(Secret("s3cret"), for: selection, login: login)
      #expect(try commands.secret(selection) == Secret("s3cret"))
      #expect(try commands.remove(selection) == 1)
      #expect(throws: ToolFailure.self) { try commands.remove(selection) }
    }
  }

  @Test func `the library reads items that the tool has set`() throws {
    try commands.set(Secret("pa55"), for: credential, login: "ada", label: "Mine")
    let stored = try storage.service("service").credential("mine").read()
    #expect(stored == Credential(login: "ada", password: "pa55"))
    #expect(try commands.metadata(credential).paragraphs[0].contains("label: Mine"))
  }

  @Test func `adding an item does not replace another`() throws {
    try commands.set(Secret("first"), for: password, mode: .add)
    let error = #expect(throws: SecureStorageError.self) {
      try commands.set(Secret("second"), for: password, mode: .add, toReplace: "Use --replace.")
    }
    #expect(error?.code == .itemAlreadyExists && error?.recoverySuggestion == "Use --replace.")
    #expect(try commands.secret(password) == Secret("first"))
  }

  @Test func `the selection decides which items are listed and removed`() throws {
    try commands.set(Secret("s3cret"), for: password)
    try commands.set(Secret("s3cret"), for: credential, login: "ada")
    try commands.set(Secret("s3cret"), for: internet)
    let server = ItemSelection(server: InternetServer("example.org"))
    #expect(try commands.list(ItemSelection()).lines.count == 3)
    #expect(try commands.list(ItemSelection(service: "service")).lines.count == 2)
    #expect(try commands.list(server).lines.count == 1)
    #expect(try commands.list(credential).lines.count == 1)
    #expect(try commands.list(ItemSelection(service: "other")).lines.isEmpty)

    #expect(try commands.remove(ItemSelection(service: "service"), all: true) == 2)
    #expect(try commands.remove(server, all: true) == 1)
  }

  @Test func `locked items are listed only without a question`() throws {
    try commands.set(Secret("s3cret"), for: password)
    try storage.lock()
    #expect(throws: SecureStorageError.self) { try commands.list(password) }
    #expect(try commands.list(password, allowsUnlocking: false).lines[0].hasSuffix("locked"))
  }

  @Test(arguments: [
    ItemSelection(), ItemSelection(service: "service"), ItemSelection(account: "me"),
    ItemSelection(service: "service", account: "me", server: InternetServer("example.org")),
    ItemSelection(service: "service", account: "me", credential: "mine"),
    ItemSelection(credential: "mine", server: InternetServer("example.org")),
    ItemSelection(service: "service", credential: "mine", isValue: true),
  ])
  func `a selection that names no single item is refused`(selection: ItemSelection) {
    #expect(throws: ItemSelection.Unclear.self) { try commands.secret(selection) }
    #expect(throws: ItemSelection.Unclear.self) { try commands.remove(selection) }
  }

  @Test(arguments: [
    ItemSelection(), ItemSelection(account: "me"), ItemSelection(service: "service", account: "me"),
  ])
  func `the removal of all items of an unclear selection is refused`(selection: ItemSelection) {
    #expect(throws: ItemSelection.Unclear.self) { try commands.remove(selection, all: true) }
  }

  @Test func `a selection that fits none names those that are there`() throws {
    let github = InternetServer("github.com", protocol: "https")
    try commands.set(Secret("a"), for: ItemSelection(account: "ada", server: github))
    try commands.set(Secret("b"), for: ItemSelection(account: "bob's", server: github))
    func suggestion(_ selection: ItemSelection) throws -> String {
      let failures = [
        #expect(throws: ToolFailure.self) { try commands.secret(selection) },
        #expect(throws: ToolFailure.self) { try commands.metadata(selection) },
        #expect(throws: ToolFailure.self) { try commands.remove(selection) },
      ].map { $0?.recoverySuggestion ?? "" }
      #expect(Set(failures).count == 1)
      return failures[0]
    }
    let both = [
      "  --server github.com --protocol https --account 'bob'\\''s'",
      "  --server github.com --protocol https --account ada",
    ]
    let host = InternetServer("github.com")
    for selection in [
      ItemSelection(server: host), ItemSelection(account: "eve", server: host),
      ItemSelection(account: "ada", server: InternetServer("github.com", protocol: "http")),
    ] {
      #expect(
        try suggestion(selection).split(separator: "\n").dropFirst().sorted()
          == both.sorted().map { $0[...] })
    }
    #expect(
      try suggestion(ItemSelection(account: "ada", server: host))
        == "Specify one of these:\n\(both[1])")
    #expect(try suggestion(ItemSelection(server: InternetServer("h"))).contains("\"list\""))
    try commands.set(Secret("s3cret"), for: password)
    try commands.set(Secret("s3cret"), for: credential, login: "ada")
    let unclear = #expect(throws: ItemSelection.Unclear.self) {
      try commands.secret(ItemSelection(service: "service"))
    }
    #expect(
      unclear?.candidates.sorted() == [
        "--service service --account me", "--service service --credential mine",
      ])
  }

  /// git-credential-libsecret stores an empty user, and others do so, too.
  @Test(arguments: [
    (
      ["server": "h", "protocol": "https", "user": ""],
      ItemSelection(server: InternetServer("h", protocol: "https"))
    ),
    (
      ["server": "h", "protocol": "https", "user": "", "object": "", "port": ""],
      ItemSelection(account: "", server: InternetServer("h", protocol: "https"))
    ),
    (["server": "https://h/"], ItemSelection(server: InternetServer("https://h/"))),
  ])
  func `an item with empty parts is read, copied and removed`(
    parts: [String: String], selection: ItemSelection
  ) throws {
    let key = ItemKey(kind: .internetPassword, attributes: parts)
    try storage[key, as: .secret].write(Secret("s3cret"))
    #expect(try commands.secret(selection) == Secret("s3cret"))
    #expect(try commands.metadata(selection).lines.count == 1)
    let destination = InMemoryStorage()
    #expect(
      try commands.copy(ItemSelection(), to: destination, replacing: false)
        == commands.copy(ItemSelection(), to: destination, replacing: true))
    #expect(try destination.secret(for: key) == Secret("s3cret"))
    #expect(try commands.remove(selection) == 1)
    #expect(try storage.items(matching: ItemQuery()).isEmpty)
  }

  @Test func `one of many items of a server is found without its empty parts`() throws {
    // Each of them has a port of its own, and is a candidate, too.
    for port in 1...20 {
      try storage.setPassword(
        "x", for: .internetPassword(server: InternetServer("h", port: UInt16(port)), account: "a"))
    }
    let key = ItemKey(
      kind: .internetPassword, attributes: ["server": "h", "user": "a", "port": ""])
    try storage.setPassword("s3cret", for: key)
    for port in 21...40 {
      try storage.setPassword(
        "x", for: .internetPassword(server: InternetServer("h", port: UInt16(port)), account: "a"))
    }
    let selection = ItemSelection(account: "a", server: InternetServer("h"))
    #expect(try commands.secret(selection) == Secret("s3cret"))
    try storage.remove(key)
    let failure = #expect(throws: ToolFailure.self) { try commands.secret(selection) }
    #expect(failure?.recoverySuggestion.split(separator: "\n").count == 11)
    // Of two, none is chosen.
    for path in ["object", "domain"] {
      try storage.setPassword(
        path,
        for: ItemKey(kind: .internetPassword, attributes: ["server": "h", "user": "a", path: ""]))
    }
    #expect(throws: ToolFailure.self) { try commands.secret(selection) }
  }

  @Test func `a password with an empty account or service can be reached`() throws {
    for (service, account) in [("service", ""), ("", "me")] {
      let key = ItemKey(kind: .password, attributes: ["service": service, "username": account])
      let selection = ItemSelection(service: service, account: account)
      try storage[key, as: .secret].write(Secret("s3cret"))
      #expect(try commands.secret(selection) == Secret("s3cret"))
      #expect(try commands.remove(selection) == 1)
      // A new one isn't made by mistake.
      #expect(throws: SecureStorageError.self) { try commands.set(Secret("x"), for: selection) }
    }
  }

  @Test func `a password that git doesn't find has advice`() {
    func advice(_ server: InternetServer, _ account: String?) -> String? {
      ItemSelection(account: account, server: server).adviceForGit
    }
    let (plain, complete) = (InternetServer("h"), InternetServer("h", protocol: .https))
    #expect(advice(plain, nil) == "Git finds passwords only with --protocol and --account.")
    #expect(advice(plain, "ada") == "Git finds passwords only with --protocol.")
    #expect(advice(complete, nil) == "Git finds passwords only with --account.")
    #expect(advice(complete, "ada") == nil && password.adviceForGit == nil)
    let other = InternetServer("h", path: "p", securityDomain: "d", protocol: .https)
    #expect(
      advice(other, "ada")
        == "Git finds passwords only without --domain. "
        + "Git finds passwords with --path only if credential.useHttpPath is set.")
  }
}
