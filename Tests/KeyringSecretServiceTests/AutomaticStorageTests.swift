// SPDX-License-Identifier: Apache-2.0

#if SecretService && EncryptedFile && os(Linux)
import Foundation
import KeyringRuntime
import KeyringStorage
import Testing

@testable import Keyring

/// `FirstAvailableStorage.automatic()` in the example `SecureSettings`, in a terminal.
@Suite(.withOwnKeyring) struct AutomaticStorageTests {
  private let directory = TemporaryDirectory()
  private var home: String { directory.path }
  private var file: String { home + "/.local/share/swift-keyring/SecureSettings.secrets" }
  private var selection: String {
    get throws { try directory.text(".local/share/swift-keyring/SecureSettings.selection") }
  }

  /// Starts the app in a terminal, with the bus of a session or without one.
  private func start(_ command: String, on bus: PrivateBus? = nil) throws -> Program {
    let app = Program.path(of: "SecureSettings")
    let address = bus?.address ?? "unix:path=/nonexistent"
    return try .inTerminal(
      "env -i HOME=\(home) DBUS_SESSION_BUS_ADDRESS=\(address) \(app) \(command) automatic")
  }

  /// Runs the app, and types an answer after each prompt.
  private func run(
    _ command: String, on bus: PrivateBus? = nil, _ answers: (prompt: String, answer: String)...
  ) throws -> (status: Int32, text: String) {
    try run(command, on: bus, answers)
  }

  private func run(
    _ command: String, on bus: PrivateBus? = nil, _ answers: [(prompt: String, answer: String)]
  ) throws -> (status: Int32, text: String) {
    let app = try start(command, on: bus)
    var text = ""
    for (prompt, answer) in answers {
      text += try app.read(until: prompt)
      try #require(text.hasSuffix(prompt), "\(text)")
      try app.writeLine(answer)
    }
    let (status, rest) = try app.finish()
    return (status, text + String(decoding: rest, as: UTF8.self))
  }

  private var prompt: String { "Passphrase of the file \(file): " }
  private var newPrompt: String { "New passphrase of the file \(file): " }

  @Test func `a user without a keyring types a passphrase`() throws {
    let made = try run(
      "sign-in", (newPrompt, "s3cret phrase"), ("Repeat the passphrase: ", "s3cret phrase"))
    #expect(made.status == 0 && made.text.contains("account       ada@example.org"), "\(made)")
    #expect(!made.text.contains("s3cret phrase"))
    #expect(try selection == "EncryptedFileStorage\n")

    // The later processes ask once, and only the right passphrase opens the file.
    let shown = try run("show", (prompt, "s3cret phrase"))
    #expect(shown.status == 0 && shown.text.contains("account       ada@example.org"), "\(shown)")

    // A keyring that appears later changes nothing, and the user learns of it.
    let (bus, keyring) = try PrivateBus.with { try GnomeKeyring(on: $0) }
    defer { _ = keyring }
    let later = try run("show", on: bus, (prompt, "s3cret phrase"))
    #expect(later.status == 0 && later.text.contains("account       ada@example.org"), "\(later)")
    #expect(later.text.contains("though SecretServiceStorage could be used"), "\(later)")
  }

  @Test func `two passphrases that differ create no file`() throws {
    // The app has four properties. Each of them asks.
    let answers = [(newPrompt, "one"), ("Repeat the passphrase: ", "two")]
    let (_, text) = try run("sign-in", Array(repeating: answers, count: 4).flatMap { $0 })
    #expect(text.contains("The two passphrases differ."), "\(text)")
    #expect(!FileManager.default.fileExists(atPath: file))
  }

  @Test func `a user with a keyring is asked for nothing`() throws {
    let (bus, keyring) = try PrivateBus.with { try GnomeKeyring(on: $0) }
    defer { _ = keyring }
    let made = try run("sign-in", on: bus)
    #expect(made.status == 0 && made.text.contains("account       ada@example.org"), "\(made)")
    #expect(try selection == "SecretServiceStorage\n")
    #expect(!FileManager.default.fileExists(atPath: file))

    // Without the keyring, the app doesn't begin with an empty file.
    let later = try run("show")
    #expect(later.status == 1 && later.text.contains("keeps its secrets in SecretServiceStorage"))
    #expect(!FileManager.default.fileExists(atPath: file))
  }

  @Test func `a user who prefers a file gets it`() throws {
    let file = InMemoryStorage()
    for prefersFile in [true, false] {
      let storages = PlatformStorage.storages(file: file, prefersFile: prefersFile)
      #expect(storages.firstIndex { $0 is InMemoryStorage } == (prefersFile ? 0 : 1))
    }
    // The keyring isn't used in place of a file that can't be there.
    let none = UnavailableStorage(message: "none", recoverySuggestion: "none")
    #expect(PlatformStorage.storages(file: none, prefersFile: true).count == 1)
  }

  @Test func `a sandbox without a directory has no storage`() async {
    await #expect(processExitsWith: .success) {
      for name in ["HOME", "XDG_DATA_HOME"] { unsetenv(name) }
      let sandbox = Sandbox.flatpak("org.example.App")
      let storage = PlatformStorage.storage(in: sandbox)
      #expect(throws: SecureStorageError.self) { try storage?.selection() }
      #expect(storage != nil && PlatformStorage.storage(in: .none) == nil)
      setenv("HOME", "/home/ada", 1)
      #expect(sandbox.dataDirectory == "/home/ada/.var/app/org.example.App/data")
      for path in ["", "relative"] {
        setenv("XDG_DATA_HOME", path, 1)
        #expect(sandbox.dataDirectory == "/home/ada/.var/app/org.example.App/data")
      }
    }
  }

  @Test func `a program without a terminal says so`() throws {
    let app = Program.path(of: "SecureSettings")
    let (_, output) = try Program(
      "setsid",
      ["--wait", "env", "-i", "HOME=\(home)", "DBUS_SESSION_BUS_ADDRESS=unix:path=/nonexistent"]
        + ["sh", "-c", "exec \"$0\" sign-in automatic 2>&1", app]
    ).finish()
    let text = String(decoding: output, as: UTF8.self)
    #expect(text.contains("The program has no terminal"), "\(text)")
    // Nothing is remembered, so the program can use a keyring later.
    #expect(text.contains("(noStorage)") && !FileManager.default.fileExists(atPath: file))
    #expect(throws: (any Error).self) { try selection }
  }
}
#endif
