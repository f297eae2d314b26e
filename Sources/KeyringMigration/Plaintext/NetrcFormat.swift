// SPDX-License-Identifier: Apache-2.0

internal import KeyringStorage

/// The format of the file `.netrc`, in which programs such as curl find passwords of servers.
struct NetrcFormat: PlaintextFormat {
  func names(in content: Secret) throws(PlaintextFormatError) -> [PlaintextName] {
    try machines(in: content).map {
      PlaintextName(
        path: $0.problem == nil ? $0.path ?? [] : [], position: $0.range.lowerBound,
        problem: $0.problem)
    }
  }

  func part(at path: [String], in content: Secret) throws(PlaintextFormatError) -> PlaintextPart? {
    let same = try machines(in: content).filter { $0.problem == nil && $0.path == path }
    guard same.count < 2 else {
      throw PlaintextFormatError(
        "The file has several passwords of \(path.joined(separator: " ")).", code: .ambiguous)
    }
    guard let machine = same.first, let password = machine.password else { return nil }
    return (.bytes(content[password].withoutBackslashes(machine.isEscaped)), machine.range)
  }

  private func machines(in content: Secret) throws(PlaintextFormatError) -> [NetrcMachine] {
    try content.withUnsafeBytes { (bytes) throws(PlaintextFormatError) in
      var parser = NetrcParser(bytes: bytes)
      return try parser.machines()
    }
  }
}

extension Secret {
  /// Returns the bytes, without each backslash before another one or a quote if they're escaped.
  fileprivate func withoutBackslashes(_ isEscaped: Bool) -> Secret {
    guard isEscaped else { return self }
    return withUnsafeBytes { bytes in
      Secret(capacity: count) { room in
        var end = 0
        var rest = bytes.makeIterator()
        while let byte = rest.next() {
          room[end] = byte == UInt8(ascii: "\\") ? rest.next() ?? byte : byte
          end += 1
        }
        return end
      }
    }
  }
}
