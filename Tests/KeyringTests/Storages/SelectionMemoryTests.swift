// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeyringRuntime
import KeyringStorage
import KeyringTesting
import Synchronization
import TestPrograms
import Testing

@testable import Keyring

/// A choice that lasts from one run of a program to the next.
@Suite struct SelectionMemoryTests {
  private let items = InMemoryStorage()
  private let keyring: FaultyStorage
  private let file = FaultyStorage(NamedStorage("File"))
  private let directory = TemporaryDirectory()
  private let key = ItemKey.password(service: "service", account: "account")

  init() { keyring = FaultyStorage(items) }

  private var path: String { directory.path + "/state/app.selection" }

  /// Starts another run of the program.
  private func run(_ storages: [any SecureStorage]? = nil) -> FirstAvailableStorage {
    FirstAvailableStorage(
      storages ?? [keyring, file], remembering: .file(at: path),
      whenAnotherAppears: { _ in })
  }

  private func remembered() throws -> String { try String(contentsOfFile: path, encoding: .utf8) }

  private func isNothingRemembered() -> Bool { !FileManager.default.fileExists(atPath: path) }

  @Test func `a file that replaces a link is for its owner only`() throws {
    try directory.makeDirectory("state")
    try FileManager.default.createSymbolicLink(
      atPath: path, withDestinationPath: directory.path + "/elsewhere")
    #expect(try StateFile(path: path).write("File\n", replacing: true))
    var status = stat()
    #expect(lstat(path, &status) == 0 && status.st_mode == S_IFREG | 0o600)
    #expect(try remembered() == "File\n")
  }

  @Test func `a program started before the keyring stays with the file`() throws {
    keyring.fail(.read, with: .noProvider)
    let first = run()
    #expect(try first.password(for: key) == nil)
    #expect(isNothingRemembered())
    try first.setPassword("s3cret", for: key)
    #expect(try remembered() == "File\n")
    keyring.reset()
    try items.setPassword("another", for: key)
    let told = Mutex<[String]>([])
    let second = FirstAvailableStorage(
      [keyring, file], remembering: .file(at: path),
      whenAnotherAppears: { choice in told.withLock { $0.append("\(choice)") } })
    #expect(try second.password(for: key) == "s3cret")
    try second.setPassword("new", for: key)
    #expect(try items.password(for: key) == "another")
    #expect(told.withLock { $0 } == ["File, as remembered, though InMemoryStorage could be used"])
    let choice = try second.selection()
    #expect(choice.remembered == "File" && choice.index == 1)
    #expect(choice.appeared.map(\.storage) == ["InMemoryStorage"] && choice.skipped.isEmpty)
    file.fail(.read, with: .other)
    let error = #expect(throws: SecureStorageError.self) { try second.password(for: key) }
    #expect(error?.backendName == "\(choice)")
    let finding = try #require(second.diagnose().findings.last)
    #expect(finding.state == .notice)
    #expect(finding.text == "File is in use, and InMemoryStorage could be.")
    #expect(finding.recoverySuggestion?.contains(path) == true)
  }

  // The code has a process of its own, so that the test can read its standard error.
  @Test func `the keyring is reported on standard error if there is no handler`() async throws {
    let result = await #expect(
      processExitsWith: .success, observing: [\.standardErrorContent]
    ) { [path = path as String] in
      let memory = SelectionMemory.file(at: path)
      _ = try memory.remember(RememberedSelection(name: "File"), .save)
      let storage = FirstAvailableStorage(
        [InMemoryStorage(), NamedStorage("File")], remembering: memory)
      for _ in 0..<2 { _ = try storage.selection() }
    }
    let text = result.map { String(decoding: $0.standardErrorContent, as: UTF8.self) } ?? ""
    #expect(
      text.hasPrefix("Secrets are in File, as remembered, though InMemoryStorage could be used."))
    #expect(text.contains("remove \(path).") && text.split(separator: "\n").count == 1)
  }

  @Test func `a program that only reads remembers nothing`() throws {
    _ = try run().password(for: key)
    _ = run().diagnose(writing: true)
    _ = try run().selection()
    #expect(isNothingRemembered())
    // The probe of a diagnosis leaves nothing behind, so it decides nothing.
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).isEmpty)
  }

  @Test func `a removal counts as a write`() throws {
    try run().remove(key)
    #expect(try remembered() == "InMemoryStorage\n")
  }

  @Test(arguments: Set.skipReasons)
  func `a remembered storage that is missing is an error`(code: SecureStorageError.Code) throws {
    try run().setPassword("s3cret", for: key)
    #expect(try remembered() == "InMemoryStorage\n")
    keyring.fail(.read, with: code)
    let storage = run()
    for body: () throws -> Void in [
      { _ = try storage.password(for: key) }, { try storage.setPassword("new", for: key) },
      { try storage.remove(key) }, { _ = try storage.selection() },
    ] {
      let error = expectError(.selectedStorageMissing) { try body() }
      #expect(error?.backendName == "InMemoryStorage")
      #expect(error?.message.contains("InMemoryStorage, which isn't available") == true)
      #expect(
        error?.message.contains(SecureStorageError(code, operation: .read, backendName: "").message)
          == true, "\(code)")
      #expect(error?.recoverySuggestion?.contains("remove \(path).") == true)
    }
    #expect(storage.diagnose(writing: true).failure?.code == .selectedStorageMissing)
    #expect(try !file.exists(key) && file.count(of: .save) == 0)
    keyring.reset()
    #expect(try storage.password(for: key) == "s3cret")
  }

  @Test func `the remembered storage is found by its name in another list`() throws {
    try run().setPassword("s3cret", for: key)
    let shorter = run([file])
    let error = expectError(.selectedStorageMissing) { try shorter.password(for: key) }
    #expect(error?.backendName == "InMemoryStorage")
    // Another order doesn't matter, and neither do other storages of the same name.
    let reordered = run([file, keyring, InMemoryStorage()])
    #expect(try reordered.password(for: key) == "s3cret")
    #expect(try reordered.selection().appeared.map(\.storage) == ["File"])
    let second = InMemoryStorage()
    keyring.fail(.read, with: .noProvider)
    try Data("InMemoryStorage 2\n".utf8).write(to: URL(fileURLWithPath: path))
    try run([keyring, second]).setPassword("s3cret", for: key)
    #expect(try second.exists(key))
  }

  @Test func `a keyring that fails does not block the remembered storage`() throws {
    keyring.fail(.read, with: .noSessionBus)
    try run().setPassword("s3cret", for: key)
    for code in [SecureStorageError.Code.timedOut, .connectionLost, .providerFailed] {
      keyring.reset()
      keyring.fail(.read, with: code)
      let storage = run()
      #expect(try storage.password(for: key) == "s3cret")
      #expect(try storage.selection().skipped.map(\.failure?.code) == [code])
    }
  }

  @Test func `a choice holds even if another selection is in progress`() async throws {
    let storage = run()
    let gate = keyring.suspend(.read)
    let selecting = Task { try await storage.selection().index }
    await gate.waitForCall()
    try storage.select(1)
    gate.open()
    #expect(try await selecting.value == 1)
    #expect(try await storage.selection().index == 1)
  }

  @Test func `a storage can be selected permanently`() throws {
    keyring.fail(.read, with: .providerFailed)
    let told = Mutex<[String]>([])
    let storage = FirstAvailableStorage(
      [keyring, file], remembering: .file(at: path),
      whenAnotherAppears: { choice in told.withLock { $0.append("\(choice)") } })
    #expect(throws: SecureStorageError.self) { try storage.password(for: key) }
    try storage.select(1)
    #expect(try remembered() == "File\nfor good\n")
    keyring.reset()
    keyring.forgetCalls()
    try storage.setPassword("s3cret", for: key)
    #expect(try file.exists(key) && keyring.calls.isEmpty && told.withLock(\.isEmpty))
    #expect(try run().password(for: key) == "s3cret" && keyring.calls.isEmpty)
    #expect("\(try storage.selection())" == "File, as remembered")
    #expect(storage.diagnose().findings.last?.state == .ok)
    try storage.forgetSelection()
    #expect(isNothingRemembered())
    #expect(try storage.selection().index == 0)
    try storage.forgetSelection()
    expectError(.invalidArgument, argument: "index") { try storage.select(2) }
  }

  @Test func `the process that writes first decides`() throws {
    keyring.fail(.read, with: .noProvider)
    let early = run()
    #expect(try early.selection().index == 1)
    keyring.reset()
    try run().setPassword("s3cret", for: key)
    // The early process has stored nothing yet, so it finds the choice of the other one.
    try early.setPassword("new", for: key)
    #expect(try items.password(for: key) == "new" && early.selection().index == 0)
    #expect(try !file.exists(key))
  }

  @Test func `processes that write at the same time remember one storage`() throws {
    for _ in 0..<50 {
      let memory = SelectionMemory.file(at: path)
      let found = Mutex<[RememberedSelection?]>([])
      DispatchQueue.concurrentPerform(iterations: 4) { number in
        let own = RememberedSelection(name: "\(number)")
        let result = Result { () throws(SecureStorageError) in try memory.remember(own, .save) }
        found.withLock { $0.append(try? result.get()) }
      }
      let all = found.withLock { $0 }
      #expect(try Array(repeating: memory.read(.read), count: 4) == all)
      let files = try FileManager.default.contentsOfDirectory(atPath: directory.path + "/state")
      #expect(files == ["app.selection"])
      try memory.replace(with: nil)
    }
  }

  @Test func `a diagnosis reports a storage that becomes available later`() throws {
    keyring.fail(.read, with: .noProvider)
    let storage = run()
    try storage.setPassword("s3cret", for: key)
    #expect(storage.diagnose().findings.last?.text.contains("could be") == false)
    keyring.reset()
    let finding = try #require(storage.diagnose().findings.last)
    #expect(finding.state == .notice && finding.text.contains("InMemoryStorage could be."))
  }

  // MARK: - Secrets that the program was given

  @Test func `a storage that was given to the program is not remembered`() throws {
    try directory.write("given", "account")
    let given = CredentialsDirectoryStorage(service: "service", directory: directory.path)
    let nothing = CredentialsDirectoryStorage(service: "service", directory: "/nonexistent")
    let first = run([given, file])
    #expect(try first.password(for: key) == "given")
    #expect(throws: SecureStorageError.self) { try first.setPassword("new", for: key) }
    #expect(throws: SecureStorageError.self) { try first.remove(key) }
    #expect(isNothingRemembered())
    // The program's own secrets stay where they are. Those given for a run come before them.
    try run([nothing, file]).setPassword("s3cret", for: key)
    let again = run([given, file])
    #expect(try again.password(for: key) == "given")
    #expect("\(try again.selection())" == "CredentialsDirectoryStorage, though File is remembered")
    #expect(try run([nothing, file]).password(for: key) == "s3cret")
    // A given storage doesn't stand in for a remembered one that comes before it.
    let missing = FaultyStorage(NamedStorage("File"))
    missing.fail(.read, with: .noStorage)
    expectError(.selectedStorageMissing) { try run([missing, given]).password(for: key) }
  }

  // MARK: - The file

  @Test func `only the user has access to the file and its directory`() throws {
    try run().setPassword("s3cret", for: key)
    for (path, mode) in [(path, 0o600), (directory.path + "/state", 0o700)] {
      let attributes = try FileManager.default.attributesOfItem(atPath: path)
      #expect(attributes[.posixPermissions] as? Int == mode)
    }
  }

  @Test(arguments: ["", "\n", "File\nnonsense\n", "File\nfor good\nmore\n", "\u{FFFE}\0"])
  func `a file without a valid selection is an error`(text: String) throws {
    _ = try SelectionMemory.file(at: path).remember(RememberedSelection(name: "x"), .save)
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    let error = #expect(throws: SecureStorageError.self) { try run().password(for: key) }
    #expect(error?.code == (text.contains("\0") ? .selectedStorageMissing : .damaged))
    #expect(error?.operation == .read)
    #expect(run().diagnose().failure?.code == error?.code)
    try Data(repeating: 0xFF, count: 10).write(to: URL(fileURLWithPath: path))
    let bytes = expectError(.damaged) { try run().password(for: key) }
    #expect(bytes?.message.contains(path) == true)
    try run().forgetSelection()
    #expect(try run().password(for: key) == nil)
  }

  /// The next run might not find the item again.
  @Test func `nothing is stored if the choice cannot be remembered`() throws {
    // A file is in the place of the directory, because root may write anywhere else.
    try directory.write("", "state")
    let storage = run()
    #expect(try storage.password(for: key) == nil)
    #expect(storage.diagnose().failure?.message.contains(path) == true)
    let error = #expect(throws: SecureStorageError.self) {
      try storage.setPassword("s3cret", for: key)
    }
    #expect(error?.message.contains(path) == true && error?.operation == .save)
    #expect(keyring.count(of: .save) == 0)
    try directory.remove("state")
    try storage.setPassword("s3cret", for: key)
    #expect(try remembered() == "InMemoryStorage\n")
  }

  @Test func `each run chooses again if it has no place to remember`() throws {
    let storage = FirstAvailableStorage([keyring, file], remembering: .nowhere)
    keyring.fail(.read, with: .noProvider)
    try storage.setPassword("s3cret", for: key)
    keyring.reset()
    #expect(try storage.password(for: key) == "s3cret")
    #expect(
      try FirstAvailableStorage([keyring, file], remembering: .nowhere).selection().index == 0)
    expectError(.noStorage) { try storage.select(1) }
  }

  @Test func `the file is in the state directory of the user`() throws {
    let here = directory.path
    // sudo may pass on the home of another user: root's to others, and another user's to root.
    let foreign = geteuid() == 0 ? here + "/foreign" : "/usr"
    if geteuid() == 0 {
      try FileManager.default.createDirectory(
        atPath: foreign, withIntermediateDirectories: false, attributes: [.ownerAccountID: 65534])
    }
    for (variables, path) in [
      (["XDG_STATE_HOME": "/state", "HOME": here], "/state/swift-keyring/app.selection"),
      (["HOME": here], "\(here)/.local/state/swift-keyring/app.selection"),
      (
        ["XDG_STATE_HOME": "state", "HOME": here],
        "\(here)/.local/state/swift-keyring/app.selection"
      ),
      // These users have no home.
      (["HOME": foreign], nil), ([:], nil), (["HOME": "/"], nil), (["HOME": "/nonexistent"], nil),
      (["HOME": "home"], nil),
    ] {
      #expect(
        UserDirectory.state.path(of: "app", suffix: "selection", in: { variables[$0] }) == path,
        "\(variables)")
    }
    #expect(
      UserDirectory.state.path(of: "../a/b", suffix: "selection", in: { _ in "/s" })
        == "/s/swift-keyring/..-a-b.selection")
    // The mark belongs to the same character as the slash.
    #expect(
      UserDirectory.state.path(of: "../\u{301}a", suffix: "selection", in: { _ in "/s" })
        == "/s/swift-keyring/..-\u{301}a.selection")
  }

  // The test has a process of its own, because variables belong to the whole process.
  @Test func `a diagnosis reports that there is no place to remember`() async {
    await #expect(processExitsWith: .success) { [path = directory.path as String] in
      let storage = FirstAvailableStorage(
        [InMemoryStorage()], remembering: .inStateDirectory("app"))
      for name in ["HOME", "XDG_STATE_HOME"] { unsetenv(name) }
      let finding = try #require(storage.diagnose().findings.last)
      #expect(finding.subject == "memory" && finding.state == .notice)
      try storage.setPassword("s3cret", for: .password(service: "service", account: "account"))
      setenv("XDG_STATE_HOME", path, 1)
      #expect(storage.diagnose().findings.last?.subject == "selection")
      try FirstAvailableStorage([InMemoryStorage()], remembering: .inStateDirectory("app"))
        .setPassword("s3cret", for: .password(service: "service", account: "account"))
      let file = path + "/swift-keyring/app.selection"
      #expect(try String(contentsOfFile: file, encoding: .utf8) == "InMemoryStorage\n")
    }
  }

  @Test func `tests leave the home directory alone`() {
    #expect(SelectionMemory.program().path == nil && SelectionMemory.program("app").path == nil)
    #expect(SelectionMemory.file(at: "/a/b").path == "/a/b" && SelectionMemory.nowhere.path == nil)
  }

  // MARK: - The table

  @Test func `the article shows the table of the reasons to skip`() throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..")
    let article = try String(
      contentsOf: root.appending(
        path: "Sources/Keyring/Documentation.docc/ServersAndContainers.md"),
      encoding: .utf8)
    let lines = article.split(separator: "\n").drop { !$0.hasPrefix("| skipped |") }
      .dropFirst(2).prefix { $0.hasPrefix("|") }
    let codes = lines.map { String($0.split(separator: "`")[1]) }
    #expect(codes.sorted() == Set.skipReasons.map { ".\($0)" }.sorted())
  }
}
