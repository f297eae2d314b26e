// SPDX-License-Identifier: Apache-2.0

internal import KeyringStorage

/// A format with one `NAME=value` per line.
enum EnvironmentFormat {
  @Sendable static func parts(
    of content: Secret
  ) throws(PlaintextFormatError) -> [PlaintextPart] {
    try content.withUnsafeBytes { (bytes) throws(PlaintextFormatError) in
      try EnvironmentParser(bytes: bytes).lines()
    }.map { line in
      PlaintextPart(path: [line.name], range: line.range) { content in
        switch line.value {
        case .plain(let range): .value(.text(content[range]))
        case .quoted(let range, let hasEscapes):
          .value(.text(content[range].decoded(hasEscapes: hasEscapes)))
        case .ambiguous(let problem): .unusable(problem)
        }
      }
    }
  }
}

extension Secret {
  /// Returns the text between quotes, with its escape sequences replaced, and line feeds as line ends.
  fileprivate func decoded(hasEscapes: Bool) -> Secret {
    withUnsafeBytes { bytes in
      Secret(capacity: count) { room in
        var end = 0
        var rest = bytes[...]
        func append(_ byte: UInt8) {
          room[end] = byte
          end += 1
        }
        while let byte = rest.popFirst() {
          if byte == UInt8(ascii: "\r") {
            if rest.first != UInt8(ascii: "\n") { append(UInt8(ascii: "\n")) }
            continue
          }
          guard hasEscapes, byte == UInt8(ascii: "\\"), let escaped = rest.popFirst() else {
            append(byte)
            continue
          }
          switch escaped {
          case UInt8(ascii: "n"): append(UInt8(ascii: "\n"))
          case UInt8(ascii: "r"): append(UInt8(ascii: "\r"))
          case UInt8(ascii: "t"): append(UInt8(ascii: "\t"))
          case UInt8(ascii: "\""), UInt8(ascii: "\\"): append(escaped)
          default:
            append(byte)
            append(escaped)
          }
        }
        return end
      }
    }
  }
}
