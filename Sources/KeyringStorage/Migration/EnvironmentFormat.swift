/// Lines `NAME=value`.
struct EnvironmentFormat: PlaintextFormat {
  func value(at path: [String], in content: Secret) throws(PlaintextFault) -> PlaintextValue? {
    guard let line = try line(at: path, in: content) else { return nil }
    switch line.value {
    case .literal(let range): return .text(content[range])
    case .escaped(let range): return .text(content[range].unescaped)
    case .malformed:
      throw PlaintextFault("The value of \"\(line.name)\" has quotes that do not enclose it.")
    }
  }

  func removing(_ path: [String], from content: Secret) throws(PlaintextFault) -> Secret {
    guard let line = try line(at: path, in: content) else { return content }
    return content.removing(line.range)
  }

  private func line(
    at path: [String], in content: Secret
  ) throws(PlaintextFault) -> EnvironmentLine? {
    guard let name = path.first, path.count == 1 else {
      throw PlaintextFault(
        "The path of a variable is one name.", code: .invalidArgument)
    }
    let lines = content.withUnsafeBytes { EnvironmentParser($0).lines.filter { $0.name == name } }
    guard lines.count < 2 else {
      // Which of them counts depends on who reads the file.
      throw PlaintextFault("The variable \"\(name)\" is set several times.", code: .ambiguous)
    }
    return lines.first
  }
}

/// A variable in an environment file.
struct EnvironmentLine {
  enum Value {
    case literal(Range<Int>)
    case escaped(Range<Int>)
    case malformed
  }

  let name: String
  let value: Value
  /// What to cut out: the line, or lines, up to a comment behind the value.
  let range: Range<Int>
}

extension Secret {
  /// The text between double quotes, with what its escapes stand for.
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
