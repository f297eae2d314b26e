// SPDX-License-Identifier: Apache-2.0

internal import KeyringMigration
internal import KeyringStorage

/// The format of the file `.netrc`, in which programs such as curl find passwords of servers.
enum NetrcFormat {
  /// Returns the passwords, whose path is the server and, if the file has one, the login.
  static func entries(of content: Secret) -> [PlaintextEntry] {
    content.withUnsafeBytes { bytes in
      var parser = NetrcParser(bytes)
      return parser.entries()
    }
  }
}

/// A parser that finds the entries of a `.netrc` file.
///
/// An entry that curl, SwiftPM and Python read differently is unusable.
struct NetrcParser<Bytes: RandomAccessCollection<UInt8>> where Bytes.Index == Int {
  /// The reason why no item can be made from an entry, as the rest of a sentence about its line.
  private struct Problem: Error {
    let phrase: String

    init(_ phrase: String) { self.phrase = phrase }
  }

  private static var otherWord: String { "has a word that isn't of this format" }

  private let bytes: Bytes
  private var position: Int

  init(_ bytes: Bytes) {
    self.bytes = bytes
    // A byte order mark stays in the file.
    position = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
  }

  mutating func entries() -> [PlaintextEntry] {
    let first = position
    var entries: [PlaintextEntry] = []
    while let start = nextWord() {
      do throws(Problem) {
        switch word(at: start) {
        case "machine", "default": try entries.append(machine(from: start, first))
        case "macdef": skipMacro(from: start)
        default: throw Problem(Self.otherWord)
        }
      } catch {
        // What follows on the line may belong to the entry.
        repeat {
          position = pastBlanks(from: endOfLine(from: position))
        } while position
          < bytes.count && !["machine", "default", "macdef"].contains(word(at: position))
        entries.append(.unusable(error.phrase, start..<position))
      }
    }
    return entries
  }

  /// Reads an entry, from which an item can be made unless it has a problem.
  private mutating func machine(from start: Int, _ first: Int) throws(Problem) -> PlaintextEntry {
    let isDefault = word(at: start) == "default"
    position = start + 7
    var path = isDefault ? [] : [try text("the name of the server")]
    var problem = isDefault ? "is for all other servers" : nil
    var password: Range<Int>?
    var end = position
    reading: while let next = nextWord() {
      let word = word(at: next)
      position = next + word.utf8.count
      switch word {
      case "login", "user": path = path.prefix(1) + [try text("the login")]
      case "password": password = try token("the password")
      case "account":
        _ = try token("the account")
        problem = "has an account, which an item can't keep"
      case "machine", "default", "macdef":
        position = next
        break reading
      default:
        // Such as a port, which items of HTTPS don't have.
        position = endOfWord(from: next)
        problem = Self.otherWord
      }
      end = position
    }
    position = end
    let range = wholeLines(start..<end, from: first)
    guard let password else { return .unusable(problem ?? "has no password", range) }
    let content = bytes[password]
    if content.elementsEqual(PlaintextEntry.noPassword.utf8) {
      return .unusable(PlaintextEntry.tokenAsLogin, range)
    }
    if let problem { return .unusable(problem, range) }
    return PlaintextEntry(
      path: path, kind: .text, secret: Secret(bytes: Unescaped(content)), range: range)
  }

  /// Moves past blanks and comments, and returns the start of the next word.
  private mutating func nextWord() -> Int? {
    while true {
      position = pastBlanks(from: position)
      guard position < bytes.count else { return nil }
      if bytes[position] != UInt8(ascii: "#") { return position }
      position = endOfLine(from: position)
    }
  }

  private func word(at start: Int) -> String {
    let end = endOfWord(from: start)
    // A long word is no keyword, and may be a secret.
    return end - start > 8 ? "" : String(decoding: bytes[start..<end], as: UTF8.self)
  }

  private mutating func text(_ meaning: String) throws(Problem) -> String {
    let token = try token(meaning)
    guard !bytes[token].contains(UInt8(ascii: "\\")),
      let text = String(validating: bytes[token], as: UTF8.self), !text.isEmpty
    else { throw Problem("has no text as \(meaning)") }
    return text
  }

  /// Reads the word after a keyword, and returns its range, without quotes.
  private mutating func token(_ meaning: String) throws(Problem) -> Range<Int> {
    let start = pastBlanks(from: position)
    guard start < bytes.count else { throw Problem("ends before \(meaning)") }
    position = start
    if bytes[start] == UInt8(ascii: "#") {
      throw Problem("has a \"#\" before \(meaning), which programs read differently")
    }
    guard bytes[start] == UInt8(ascii: "\"") else {
      position = endOfWord(from: start)
      guard !bytes[start..<position].contains(UInt8(ascii: "\\")) else {
        throw Problem("has a backslash in \(meaning), which programs read differently")
      }
      return start..<position
    }
    var end = start + 1
    while end < bytes.count, bytes[end] != UInt8(ascii: "\"") {
      if bytes[end] == UInt8(ascii: "\\") {
        end += 1
        guard end < bytes.count, "\"\\".utf8.contains(bytes[end]) else {
          throw Problem("has a backslash in \(meaning), which programs read differently")
        }
      }
      end += 1
    }
    guard end < bytes.count, end + 1 == bytes.count || isBlank(bytes[end + 1]) else {
      throw Problem("has a misplaced quote in \(meaning)")
    }
    position = end + 1
    return start + 1..<end
  }

  /// Skips a macro, which ends with an empty line.
  private mutating func skipMacro(from start: Int) {
    position = endOfLine(from: start)
    while position < bytes.count {
      let next = endOfLine(from: position + 1)
      let isEmpty = bytes[min(position + 1, next)..<next].allSatisfy(isBlank)
      position = next
      if isEmpty { return }
    }
  }

  /// Extends a range over the lines that have nothing else.
  private func wholeLines(_ range: Range<Int>, from first: Int) -> Range<Int> {
    var (start, end) = (range.lowerBound, range.upperBound)
    while start > first, isBlankInLine(bytes[start - 1]) { start -= 1 }
    while end < bytes.count, isBlankInLine(bytes[end]) { end += 1 }
    guard start == first || isLineFeed(bytes[start - 1]),
      end == bytes.count || isLineFeed(bytes[end])
    else { return range }
    return start..<min(end + 1, bytes.count)
  }

  private func isBlank(_ byte: UInt8) -> Bool { " \t\n\r".utf8.contains(byte) }

  private func isLineFeed(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\n") }

  private func isBlankInLine(_ byte: UInt8) -> Bool { isBlank(byte) && !isLineFeed(byte) }

  private func pastBlanks(from start: Int) -> Int {
    bytes[min(start, bytes.count)...].firstIndex { !isBlank($0) } ?? bytes.count
  }

  private func endOfWord(from start: Int) -> Int {
    bytes[start...].firstIndex(where: isBlank) ?? bytes.count
  }

  private func endOfLine(from start: Int) -> Int {
    bytes[min(start, bytes.count)...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
  }
}

/// The bytes of a word, without the backslashes that escape one of them.
///
/// The bytes are never copied.
private struct Unescaped<Base: RandomAccessCollection<UInt8>>: Collection {
  private let base: Base

  init(_ base: Base) { self.base = base }

  var startIndex: Base.Index { base.startIndex }
  var endIndex: Base.Index { base.endIndex }

  func index(after index: Base.Index) -> Base.Index { base.index(after: unescaped(index)) }

  subscript(index: Base.Index) -> UInt8 { base[unescaped(index)] }

  private func unescaped(_ index: Base.Index) -> Base.Index {
    base[index] == UInt8(ascii: "\\") ? base.index(after: index) : index
  }
}
