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
      #expect(try commands.remove(selection) == 0)
    }
  }

  @Test func `the library reads items that the tool has set`() throws {
    try commands.set(Secret("pa55"), for: credential, login: "ada", label: "Mine")
    let stored = try storage.service("service").credential(labeled: "mine")
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
}
