// SPDX-License-Identifier: Apache-2.0

internal import KeyringStorage

/// A format with one `NAME=value` per line.
struct EnvironmentFormat: PlaintextFormat {
  func names(in content: Secret) throws(PlaintextFormatError) -> [PlaintextName] {
    content.withUnsafeBytes { EnvironmentParser(bytes: $0).lines }
      .map { PlaintextName(path: [$0.name], position: $0.range.lowerBound) }
  }

  func part(at path: [String], in content: Secret) throws(PlaintextFormatError) -> PlaintextPart? {
    guard let name = path.first, path.count == 1 else {
      throw PlaintextFormatError(
        "The path of a variable must have one name.", code: .invalidArgument)
    }
    let lines = content.withUnsafeBytes { EnvironmentParser(bytes: $0).lines }
      .filter { $0.name == name }
    guard lines.count < 2 else {
      // Readers of the file differ in which of them counts.
      throw PlaintextFormatError("The variable \"\(name)\" is set several times.", code: .ambiguous)
    }
    guard let line = lines.first else { return nil }
    switch line.value {
    case .literal(let range): return (.text(content[range]), line.range)
    case .escaped(let range): return (.text(content[range].unescaped), line.range)
    case .malformed:
      throw PlaintextFormatError("The value of \"\(name)\" has misplaced quotes.")
    }
  }
}

extension Secret {
  /// The text between double quotes, with its escape sequences replaced.
  fileprivate var unescaped: Secret {
    withUnsafeBytes { bytes in
      Secret(capacity: count) { room in
        var end = 0
        var rest = bytes.makeIterator()
        func append(_ byte: UInt8) {
          room[end] = byte
          end += 1
        }
        while let byte = rest.next() {
          guard byte == UInt8(ascii: "\\"), let escaped = rest.next() else {
            append(byte)
            continue
          }
          switch escaped {
          case UInt8(ascii: "n"): append(UInt8(ascii: "\n"))
          case UInt8(ascii: "r"): append(UInt8(ascii: "\r"))
          case UInt8(ascii: "t"): append(UInt8(ascii: "\t"))
          case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "$"), UInt8(ascii: "`"):
            append(escaped)
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
