// SPDX-License-Identifier: Apache-2.0

internal import KeyringStorage

/// A format with one `NAME=value` per line.
struct EnvironmentFormat: PlaintextFormat {
  func names(in content: Secret) throws(PlaintextFormatError) -> [PlaintextName] {
    try content.withUnsafeBytes { (bytes) throws(PlaintextFormatError) in
      try EnvironmentParser(bytes: bytes).lines()
    }.map { PlaintextName(path: [$0.name], position: $0.range.lowerBound) }
  }

  func part(at path: [String], in content: Secret) throws(PlaintextFormatError) -> PlaintextPart? {
    guard let name = path.first, path.count == 1 else {
      throw PlaintextFormatError(
        "The path of a variable must have one name.", code: .invalidArgument)
    }
    let lines = try content.withUnsafeBytes { (bytes) throws(PlaintextFormatError) in
      try EnvironmentParser(bytes: bytes).lines()
    }.filter { $0.name == name }
    guard lines.count < 2 else {
      // Readers of the file differ in which of them counts.
      let numbers = lines.map { String($0.number) }.joined(separator: ", ")
      throw PlaintextFormatError(
        "The variable \"\(name)\" is set several times, on lines \(numbers).", code: .ambiguous)
    }
    guard let line = lines.first else { return nil }
    switch line.value {
    case .plain(let range): return (.text(content[range]), line.range)
    case .quoted(let range, let hasEscapes):
      return (.text(content[range].decoded(hasEscapes: hasEscapes)), line.range)
    case .ambiguous(let reason):
      throw PlaintextFormatError("The value of \"\(name)\" on line \(line.number) \(reason).")
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
