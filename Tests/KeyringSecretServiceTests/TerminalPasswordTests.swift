// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Foundation
import Keyring
import KeyringStorage
import Testing

/// A program in a terminal that asks for the password of a locked keyring, as in a remote shell.
@Suite(.withOwnKeyring) struct TerminalPasswordTests {
  private let bus: PrivateBus
  private let keyring: GnomeKeyring
  private static let password = "pässwörd of a keyring"
  private static let question = "Password of the keyring \"Mine\": "

  init() throws {
    (bus, keyring) = try PrivateBus.with { try GnomeKeyring(on: $0, hasCollection: false) }
  }

  // MARK: - The keyring and the program

  /// Makes the default collection, stores a password, and starts the keyring again, as by the next boot.
  private func makeLockedCollection() throws {
    let collection = try PasswordCollection(label: "Mine", password: Self.password, on: bus)
    try collection.makeDefault()
    try bus.storage(.never).setPassword("s3cret", for: StorageUse.key)
    try keyring.kill()
    try keyring.start(unlocked: false)
    #expect(try bus.storage(.never).isLocked())
  }

  private var isLocked: Bool { get throws { try bus.storage(.never).isLocked() } }

  private func worker(_ use: String, _ collection: String = "default", seconds: Int = 60) -> String
  {
    "env DBUS_SESSION_BUS_ADDRESS=\(bus.address) "
      + "\(Program.workerPath) at-terminal \(use) \(collection) \(seconds)"
  }

  /// Starts the worker in a terminal of its own, whose settings are printed before and after.
  private func run(_ use: String, _ collection: String = "default", seconds: Int = 60) throws
    -> Program
  {
    try .inTerminal("bash -c 'stty -g; \(worker(use, collection, seconds: seconds)); stty -g'")
  }

  /// Types a line as the answer to a question.
  @discardableResult
  private func answer(
    _ program: Program, _ question: String = Self.question, with line: String
  ) throws -> String {
    let text = try program.read(until: question)
    try #require(text.hasSuffix(question), "\(text)")
    try program.write(line)
    return text
  }

  /// Returns the rest of what the terminal shows, whose settings must be the ones before the question.
  private func finish(_ program: Program, after text: String) throws -> String {
    let all = text + String(decoding: try program.finish().output, as: UTF8.self)
    let lines = all.split(whereSeparator: \.isNewline)
    #expect(lines.first?.contains(":") == true && lines.first == lines.last, "\(all)")
    return all
  }

  // MARK: - Answers

  @Test func `the password opens the keyring of all programs`() throws {
    try makeLockedCollection()
    let program = try run("read")
    let text = try answer(program, with: Self.password + "\n")
    let rest = try finish(program, after: text)
    #expect(rest.contains("s3cret") && !rest.contains("rd of a"), "\(rest)")
    #expect(try !isLocked)
    #expect(try bus.storage(.never).password(for: StorageUse.key) == "s3cret")
  }

  @Test func `a wrong or an empty password is asked for again`() throws {
    try makeLockedCollection()
    let program = try run("read")
    var text = try answer(program, with: "wrong\n")
    for line in ["\n", Self.password + "\n"] {
      text += try answer(program, "Wrong password.\r\n" + Self.question, with: line)
    }
    #expect(try finish(program, after: text).contains("s3cret"))
  }

  @Test func `three wrong passwords are an error`() throws {
    try makeLockedCollection()
    for use in ["read", "save", "unlock"] {
      let program = try run(use)
      var text = ""
      for number in 1...3 { text += try answer(program, with: "wrong \(number)\n") }
      text = try finish(program, after: text)
      #expect(text.contains("error wrongKey The password of the keyring is wrong."), "\(text)")
      #expect(text.components(separatedBy: Self.question).count == 4 && !text.contains("wrong 1"))
    }
    #expect(try isLocked)
  }

  @Test func `Esc and the end of the input cancel the question`() throws {
    try makeLockedCollection()
    for key in ["half a pa\u{1B}", "\u{4}"] {
      let program = try run("read")
      var text = try answer(program, with: key)
      // The end of the test's input is a key, too.
      text += try program.read(until: "error userCanceled")
      text = try finish(program, after: text)
      #expect(text.contains("error userCanceled") && !text.contains("half"), "\(text)")
    }
    #expect(try isLocked)
  }

  @Test func `an arrow key is not Esc, and not a part of the password`() throws {
    try makeLockedCollection()
    let program = try run("read")
    var text = try answer(program, with: "half a pa\u{1B}[A")
    text += try answer(program, "\r" + Self.question, with: Self.password + "\n")
    text = try finish(program, after: text)
    #expect(text.contains("s3cret") && !text.contains("half"), "\(text)")
  }

  @Test func `the question has a deadline of its own`() throws {
    try makeLockedCollection()
    let program = try run("read", seconds: 1)
    let text = try finish(program, after: program.read(until: "error timedOut"))
    #expect(text.contains("error timedOut The question wasn't answered in time."), "\(text)")
  }

  // MARK: - Nobody to ask

  @Test func `a program in the background asks nothing`() throws {
    try makeLockedCollection()
    let program = try Program.inTerminal(
      "bash -c 'stty -g; set -m; \(worker("read")) & wait; stty -g'")
    let text = try finish(program, after: "")
    #expect(text.contains("error locked The program runs in the background"), "\(text)")
    #expect(!text.contains(Self.question))
  }

  @Test func `a program that continues in the background asks nothing`() throws {
    try makeLockedCollection()
    let program = try Program.inTerminal(
      "bash -c 'stty -g; set -m; \(worker("read")); bg; wait %1; stty -g'")
    _ = try program.read(until: Self.question)
    try program.write("half a se\u{1A}")
    let failure = "error locked The program runs in the background"
    // The end of the input must not come before the program has stopped.
    var text = try program.read(until: failure)
    text += String(decoding: try program.finish().output, as: UTF8.self)
    #expect(text.contains(failure), "\(text)")
    #expect(!text.contains(Self.question))
  }

  @Test func `a program without a terminal asks nothing`() throws {
    try makeLockedCollection()
    let words = ["setsid", "--wait"] + worker("read").split(separator: " ").map(String.init)
    let program = try Program(words[0], Array(words.dropFirst()))
    let text = String(decoding: try program.finish().output, as: UTF8.self)
    #expect(text.contains("error locked The program has no terminal"), "\(text)")
  }

  @Test(arguments: ["allowed", "never"])
  func `no other storage asks at the terminal`(interaction: String) throws {
    try makeLockedCollection()
    let program = try Program.inTerminal(
      "env DBUS_SESSION_BUS_ADDRESS=\(bus.address) \(Program.workerPath) "
        + "read service account \(interaction)")
    let text = String(decoding: try program.finish().output, as: UTF8.self)
    #expect(text.contains("error locked") && !text.contains("Password of"), "\(text)")
  }

  // MARK: - Collections

  @Test func `tasks and threads ask once`() throws {
    try makeLockedCollection()
    let program = try run("reads")
    let text = try finish(program, after: answer(program, with: Self.password + "\n"))
    #expect(text.contains("s3cret"), "\(text)")
    #expect(text.components(separatedBy: "Password of").count == 2, "\(text)")
  }

  @Test func `a collection that was unlocked meanwhile is not asked for`() throws {
    try makeLockedCollection()
    let work = bus.storage(.never, in: .named("Work"))
    _ = try PasswordCollection(label: "Work", password: Self.password, on: bus)
    try work.setPassword("s3cret", for: StorageUse.key)
    try work.lock()
    let program = try run("both")
    var text = try program.read(until: "\": ")
    let other = text.hasSuffix(Self.question) ? work : bus.storage(.never)
    try other.unlock(password: Secret(Self.password))
    try program.write(Self.password + "\n")
    text += try program.read(until: "s3cret") + program.read(until: "s3cret")
    text = try finish(program, after: text)
    #expect(text.contains("0 s3cret") && text.contains("1 s3cret"), "\(text)")
    #expect(text.components(separatedBy: "Password of").count == 2, "\(text)")
  }

  @Test func `each collection has a password of its own`() throws {
    try makeLockedCollection()
    let other = try PasswordCollection(label: "Work \u{1B}[2J", password: "other", on: bus)
    let work = bus.storage(.never, in: .named(other.label))
    try work.setPassword("of work", for: StorageUse.key)
    try work.lock()
    let program = try Program.inTerminal(
      "bash -c 'stty -g; \(worker("read", "\"\(other.label)\"")); stty -g'")
    // What another program has named doesn't reach the terminal as it is.
    let question = "Password of the keyring \"Work  [2J\": "
    let text = try finish(program, after: answer(program, question, with: "other\n"))
    #expect(text.contains("of work"), "\(text)")
    #expect(try isLocked && !work.isLocked())
  }

  @Test(arguments: ["save", "unlock"])
  func `the first password is asked for twice`(use: String) throws {
    let program = try run(use)
    let question = "New password of the keyring \"Default keyring\": "
    var text = try answer(program, question, with: "one\n")
    text += try answer(program, "Repeat the password: ", with: "another\n")
    text += try answer(program, "The two passwords differ.\r\n" + question, with: "\n")
    text += try answer(program, "The password is empty.\r\n" + question, with: "mine\n")
    text += try answer(program, "Repeat the password: ", with: "mine\n")
    text = try finish(program, after: text)
    #expect(text.contains(use == "save" ? "saved" : "unlocked"), "\(text)")
    let storage = bus.storage(.never)
    #expect(try storage.collections().filter(\.isDefault).map(\.label) == ["Default keyring"])
    #expect(try storage.password(for: StorageUse.key) == (use == "save" ? "s3cret" : nil))
    // It stays the default collection, and has the password.
    try keyring.kill()
    try keyring.start(unlocked: false)
    #expect(try storage.isLocked())
    try storage.unlock(password: Secret("mine"))
    #expect(try !storage.isLocked())
  }

  @Test func `a keyring that the question's program starts is unlocked`() throws {
    let sleeping = try SleepingKeyring(.lockedLogin)
    let program = try Program.inTerminal(
      "env DBUS_SESSION_BUS_ADDRESS=\(sleeping.bus.address) \(Program.workerPath) "
        + "at-terminal save default 60")
    let question = "Password of the keyring \"Login\": "
    let text =
      try answer(program, question, with: SleepingKeyring.password + "\n")
      + String(decoding: program.finish().output, as: UTF8.self)
    #expect(text.contains("saved"), "\(text)")
    #expect(try sleeping.bus.storage(.never).password(for: StorageUse.key) == "s3cret")
  }
}
#endif
