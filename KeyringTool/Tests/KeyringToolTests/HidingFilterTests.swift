// SPDX-License-Identifier: Apache-2.0

import Keyring
import Testing

@testable import KeyringToolCommands

/// Tests of the filter that hides secrets in the output of a program.
@Suite struct HidingFilterTests {
  /// Filters parts of an output, and returns what was written after each of them and at the end.
  private func filtered(
    _ parts: [some Collection<UInt8>], _ secrets: [String], isTerminal: Bool = false
  ) throws -> [String] {
    let filter = HidingFilter(secrets.map { Secret($0) }, isTerminal: isTerminal)
    var (written, all): ([UInt8], [String]) = ([], [])
    func note() {
      all.append(String(decoding: written, as: UTF8.self))
      written = []
    }
    for part in parts {
      try Array(part).withUnsafeBytes { try filter.filter($0) { written += $0 } }
      note()
    }
    try filter.finish { written += $0 }
    note()
    return all
  }

  /// Marks every byte that is in any secret, by comparing each of them everywhere.
  private func naive(_ text: [UInt8], _ secrets: [String]) -> String {
    var isHidden = [Bool](repeating: false, count: text.count)
    for secret in secrets.map({ Array($0.utf8) }) {
      for start in text.indices where text[start...].starts(with: secret) {
        for index in start..<(start + secret.count) { isHidden[index] = true }
      }
    }
    var result: [UInt8] = []
    for index in text.indices {
      if !isHidden[index] {
        result.append(text[index])
      } else if index == 0 || !isHidden[index - 1] {
        result += Array("<redacted>".utf8)
      }
    }
    return String(decoding: result, as: UTF8.self)
  }

  @Test(arguments: [
    (["s3cret-value"], "a s3cret-value, s3cret-values3cret-value s3cret-valu"),
    // Each begins inside of the one before.
    (["abcdefgh", "efghijkl", "ijklmnop"], "xabcdefghijklmnop abcdefghijk ijklmnop"),
    (["prefix-12", "prefix-123456"], "prefix-12 prefix-1234 prefix-123456 prefix-12345"),
    (["inner-12", "an inner-12 one"], "an inner-12 on an inner-12 one"),
    (["aaaaaaaa", "abababab"], "aaaaaaaaaaaaab ababababababab aaaaaaa"),
    (["first\nsecond\n"], "first\nsecond first\nsecon"),
    (["\u{1F511}\u{1F511}"], "\u{1F511}\u{1F511}\u{1F511}"),
  ])
  func `a secret is hidden wherever the output is divided`(secrets: [String], text: String) throws {
    let bytes = Array(text.utf8)
    let bodies = secrets.map { $0.last == "\n" ? String($0.dropLast()) : $0 }
    let expected = naive(bytes, bodies)
    #expect(expected.contains("<redacted>"))
    for border in 0...bytes.count {
      let parts = [bytes[..<border], bytes[border...]]
      #expect(try filtered(parts, secrets).joined() == expected, "divided at \(border)")
    }
    #expect(try filtered(bytes.map { [$0] }, secrets).joined() == expected)
  }

  @Test func `only the beginning of a secret is held back`() throws {
    let output = ["Password: s3", "cret", "-value", "!", "s3cret-val"].map { Array($0.utf8) }
    #expect(
      try filtered(output, ["s3cret-value", "value!!!"])
        == ["Password: ", "", "<redacted>", "", "!", "s3cret-val"])
  }

  @Test func `a terminal shows the lines of a secret with carriage returns`() throws {
    let output = Array("first\r\nsecond\r\n first\nsecond".utf8)
    let secrets = ["first\nsecond\n"]
    #expect(
      try filtered([output], secrets, isTerminal: true).joined() == "<redacted>\r\n <redacted>")
    #expect(try filtered([output], secrets).joined() == "first\r\nsecond\r\n <redacted>")
  }

  @Test func `random output is hidden as by comparing everything`() throws {
    for _ in 0..<2_000 {
      func text(_ length: Int) -> String {
        String(decoding: (0..<length).map { _ in UInt8.random(in: 97...98) }, as: UTF8.self)
      }
      let secrets = (0..<Int.random(in: 1...4)).map { _ in text(.random(in: 1...9)) }
      let output = Array(text(.random(in: 0...60)).utf8)
      var (parts, rest): ([ArraySlice<UInt8>], ArraySlice<UInt8>) = ([], output[...])
      while !rest.isEmpty {
        let count = Int.random(in: 0...rest.count)
        parts.append(rest.prefix(count))
        rest = rest.dropFirst(count)
      }
      let written = try filtered(parts, secrets).joined()
      #expect(
        written == naive(output, secrets),
        "\(secrets) in \(parts.map { String(decoding: $0, as: UTF8.self) })")
    }
  }
}
