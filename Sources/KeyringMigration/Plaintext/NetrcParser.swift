// SPDX-License-Identifier: Apache-2.0

internal import KeyringStorage

/// A parser that finds the entries of a `.netrc` file.
///
/// It throws an error for a value that curl, SwiftPM and Python read differently.
struct NetrcParser: TextScanner {
  static let blanks = [" ", "\t", "\n", "\r"].map(UInt8.init(ascii:))

  private struct Token {
    let range: Range<Int>
    let isQuoted: Bool
  }

  let bytes: UnsafeRawBufferPointer
  private var position = 0

  init(bytes: UnsafeRawBufferPointer) {
    self.bytes = bytes
    position = start
  }

  /// Reads all entries.
  mutating func machines() throws(PlaintextFormatError) -> [NetrcMachine] {
    var machines: [NetrcMachine] = []
    while let start = nextWord() {
      switch word(at: start) {
      case "machine":
        position = start + 7
        machines.append(try machine(text("the name of the server", start), from: start))
      case "default":
        position = start + 7
        let machine = try machine(nil, from: start)
        if machine.password != nil { machines.append(machine) }
      case "macdef": skipMacro(from: start)
      default: throw failure("begins with a word that isn't of this format", start)
      }
    }
    return machines
  }

  /// Reads an entry after its name.
  private mutating func machine(
    _ server: String?, from start: Int
  ) throws(PlaintextFormatError) -> NetrcMachine {
    var machine = NetrcMachine(range: start..<position)
    if server == nil { machine.problem = "is for all other servers" }
    var login: String?
    var end = position
    reading: while let next = nextWord() {
      switch word(at: next) {
      case "login", "user":
        position = next + word(at: next).utf8.count
        login = try text("the login", next)
      case "password":
        position = next + 8
        let token = try token("the password", next)
        machine.password = token.range
        machine.isEscaped = token.isQuoted && bytes[token.range].contains(UInt8(ascii: "\\"))
      case "account":
        position = next + 7
        _ = try token("the account", next)
        machine.problem = "has an account, which an item can't keep"
      case "machine", "default", "macdef": break reading
      default: throw failure("has a word that isn't of this format", next)
      }
      end = position
    }
    position = end
    machine.path = server.map { [$0] + [login].compactMap(\.self) }
    if let password = machine.password, bytes[password].elementsEqual(Secret.noPassword.utf8) {
      machine.problem = Secret.tokenAsLogin
    }
    if machine.password == nil { machine.problem = machine.problem ?? "has no password" }
    machine.range = wholeLines(start..<end)
    return machine
  }

  /// Moves past blanks and comments, and returns the start of the next word.
  private mutating func nextWord() -> Int? {
    while true {
      position = pastBlanks(from: position)
      guard let byte = byte(at: position) else { return nil }
      if byte != UInt8(ascii: "#") { return position }
      position = endOfLine(from: position)
    }
  }

  private func word(at start: Int) -> String {
    let end = bytes[start...].firstIndex(where: isBlank) ?? bytes.count
    // A long word is no keyword, and may be a secret.
    return end - start > 8 ? "" : String(decoding: bytes[start..<end], as: UTF8.self)
  }

  private mutating func text(
    _ meaning: String, _ keyword: Int
  ) throws(PlaintextFormatError) -> String {
    let token = try token(meaning, keyword)
    guard !bytes[token.range].contains(UInt8(ascii: "\\")),
      let text = String(validating: bytes[token.range], as: UTF8.self), !text.isEmpty
    else { throw failure("has no text as \(meaning)", keyword) }
    return text
  }

  /// Reads the word after a keyword.
  private mutating func token(
    _ meaning: String, _ keyword: Int
  ) throws(PlaintextFormatError) -> Token {
    let start = pastBlanks(from: position)
    guard let first = byte(at: start) else { throw failure("ends before \(meaning)", keyword) }
    if first == UInt8(ascii: "#") {
      throw failure("has a \"#\" before \(meaning), which programs read differently", keyword)
    }
    guard first == UInt8(ascii: "\"") else {
      let end = bytes[start...].firstIndex(where: isBlank) ?? bytes.count
      guard !bytes[start..<end].contains(UInt8(ascii: "\\")) else {
        throw failure("has a backslash in \(meaning), which programs read differently", keyword)
      }
      position = end
      return Token(range: start..<end, isQuoted: false)
    }
    guard let end = closing(first, from: start + 1), byte(at: end + 1).map(isBlank) ?? true else {
      throw failure("has a misplaced quote in \(meaning)", keyword)
    }
    var rest = bytes[start + 1..<end].makeIterator()
    while let byte = rest.next() {
      guard byte == UInt8(ascii: "\\"), let escaped = rest.next() else { continue }
      guard "\"\\".utf8.contains(escaped) else {
        throw failure("has a backslash in \(meaning), which programs read differently", keyword)
      }
    }
    position = end + 1
    return Token(range: start + 1..<end, isQuoted: true)
  }

  /// Skips a macro, which ends with an empty line.
  private mutating func skipMacro(from start: Int) {
    position = endOfLine(from: start)
    while position < bytes.count {
      let next = endOfLine(from: position + 1)
      let isEmpty = bytes[(position + 1)..<next].allSatisfy(isBlank)
      position = next
      if isEmpty { return }
    }
  }

  /// Extends a range over the lines that have nothing else.
  private func wholeLines(_ range: Range<Int>) -> Range<Int> {
    let before = bytes[start..<range.lowerBound]
    let lineStart = (before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 }) ?? start
    let lineEnd = endOfLine(from: range.upperBound)
    guard bytes[lineStart..<range.lowerBound].allSatisfy(isBlank),
      bytes[range.upperBound..<lineEnd].allSatisfy(isBlank)
    else { return range }
    return lineStart..<min(lineEnd + 1, bytes.count)
  }

  private func endOfLine(from start: Int) -> Int {
    start < bytes.count
      ? bytes[start...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count : bytes.count
  }

  private func failure(_ problem: String, _ position: Int) -> PlaintextFormatError {
    let line = bytes[..<position].count { $0 == UInt8(ascii: "\n") } + 1
    return PlaintextFormatError("Line \(line) \(problem).")
  }
}
