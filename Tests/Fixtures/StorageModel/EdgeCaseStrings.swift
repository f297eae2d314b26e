// SPDX-License-Identifier: Apache-2.0

import KeyringStorage

/// Texts and bytes that a storage might take for something else.
package enum EdgeCaseStrings {
  /// Texts that may be part of a key, and that some program has misunderstood.
  package static let valid: [String] = [
    "a", "A", "name", "name ", " name", "Name", " ", "\t", "0", "-1", "nil", "true",
    // These are canonically equivalent, but not the same.
    "\u{E9}", "e\u{301}", "e", "\u{212B}", "\u{C5}", "A\u{30A}", "\u{1E69}", "s\u{307}\u{323}",
    "\u{AC00}", "\u{1100}\u{1161}",
    // These change their length with their case, or can change in more than one way.
    "stra\u{DF}e", "STRASSE", "\u{1E9E}", "\u{130}", "\u{131}", "\u{3A3}\u{3C3}\u{3C2}", "\u{FB01}",
    // These are joined, directed or invisible.
    "\u{1F469}\u{200D}\u{1F4BB}", "\u{1F1E9}\u{1F1EA}", "\u{202E}txt.exe", "\u{5D0}a\u{5D1}",
    "\u{FEFF}name", "na\u{AD}me", "\u{200B}", "\u{301}", "\u{A0}",
    // These are the ends of ranges.
    "\u{1}", "\u{1F}", "\u{7F}", "\u{80}", "\u{7FF}", "\u{800}", "\u{D7FF}", "\u{E000}", "\u{FFFD}",
    "\u{FFFE}", "\u{FFFF}", "\u{10000}", "\u{1FFFF}", "\u{10FFFF}",
    // These are wildcards, quotes, escapes and separators.
    "*", "?", "%", "_", ".*", "[a-z]", "\"", "'", "`", "\\", "\\0", "\\u0000", "%00", "%s%n",
    "$(x)",
    "${HOME}", "{REF:P@I:x}", "{USERNAME}", "a\nb", "\n", "\r\n", "\u{2028}", ":", ",", "a:b,c",
    ";",
    "=", "#", "--", "<a>&amp;", "://", "//", "/", "/\u{301}", "..",
    // These names have a meaning to a keyring or to this package.
    "service", "username", "password:service,username", "org.freedesktop.Secret.Generic",
    "gkr:compat:hashed:service", "login", "default",
    String(repeating: "x", count: 300), String(repeating: "\u{E9}", count: 5000),
    String(repeating: "*", count: ItemLimits.attributeBytes),
  ]

  static let invalid = [
    "", "\0", "a\0", "\0a", "a\0b", String(repeating: "x", count: ItemLimits.attributeBytes + 1),
  ]

  /// Names of attributes beside the key's own parts.
  static let names = [
    "environment", "Environment", "comment", "username", "label", "port", "user", "access-group",
    "a:b", "a,b", "a b", " ", "\u{E9}", "e\u{301}", "gkr:", "a\nb", "\"", "*", "%", "server",
  ]

  static let refusedNames = [
    "", "nul\0", "xdg:schema", "swift-keyring:key", "swift-keyring:revision",
    "gkr:compat:uint32:port", "gkr:compat:hashed:environment",
  ]

  static func secret(using random: inout SeededGenerator) -> Secret {
    switch Int.random(in: 0..<10, using: &random) {
    case ..<5: return Secret(random.pick(valid + invalid))
    case ..<6:
      return Secret(
        bytes: random.pick([
          [0], [0, 0], [0, 1], [1, 0], [0xC0, 0x80], [0xFF], [0xFE, 0xFF], [0xED, 0xA0, 0x80],
          [0x61, 0], [0, 0x61], [0xF4, 0x90, 0x80, 0x80], Array(repeating: 16, count: 16),
        ]))
    default:
      // Most sizes are around those of a cipher's blocks, and some don't fit into one packet.
      let count = Int.random(in: 0..<(random.oneIn(50) ? 200_000 : 40), using: &random)
      return Secret(bytes: (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) })
    }
  }
}
