// SPDX-License-Identifier: Apache-2.0

internal import KeyringStorage

/// A JSON object, in which a path consists of the names of members.
struct JSONFormat: PlaintextFormat {
  private struct Anything: Decodable {
    init(from decoder: any Decoder) {}
  }

  func names(in content: Secret) throws(PlaintextFormatError) -> [PlaintextName] {
    // The scanner relies on valid JSON.
    guard isJSON(content) else { throw PlaintextFormatError("The file isn't JSON.") }
    return try content.withUnsafeBytes { (bytes) throws(PlaintextFormatError) in
      let scanner = JSONScanner(bytes: bytes)
      guard scanner.members(ofObjectAt: scanner.root) != nil else {
        throw PlaintextFormatError("The file isn't a JSON object.")
      }
      return names(at: [], scanner.root, scanner, content)
    }
  }

  /// Returns the names of the values in an object, in objects inside of it as well.
  private func names(
    at path: [String], _ start: Int, _ scanner: JSONScanner, _ content: Secret
  ) -> [PlaintextName] {
    (scanner.members(ofObjectAt: start) ?? []).flatMap { member in
      let path = path + [member.name]
      let isObject = scanner.byte(at: member.value.lowerBound) == UInt8(ascii: "{")
      let isCredential =
        isObject && content[member.value].decoded(as: ExternalCredential.self) != nil
      return isObject && !isCredential
        ? names(at: path, member.value.lowerBound, scanner, content)
        : [PlaintextName(path: path, position: member.range.lowerBound)]
    }
  }

  func part(at path: [String], in content: Secret) throws(PlaintextFormatError) -> PlaintextPart? {
    guard let member = try member(at: path, in: content) else { return nil }
    let json = content[member.value]
    if json == Secret("null") { return (nil, member.range) }
    guard json.withUnsafeBytes({ $0.first }) == UInt8(ascii: "\"") else {
      return (.json(json), member.range)
    }
    guard let text = json.decoded(as: String.self) else {
      throw PlaintextFormatError("The value \"\(path.joined(separator: "."))\" isn't text.")
    }
    return (.text(Secret(text)), member.range)
  }

  private func member(
    at path: [String], in content: Secret
  ) throws(PlaintextFormatError) -> JSONScanner.Member? {
    guard !path.isEmpty else {
      throw PlaintextFormatError("A path must have a name.", code: .invalidArgument)
    }
    // The scanner relies on valid JSON.
    guard isJSON(content) else { throw PlaintextFormatError("The file isn't JSON.") }
    return try content.withUnsafeBytes { (bytes) throws(PlaintextFormatError) in
      let scanner = JSONScanner(bytes: bytes)
      var (found, start): (JSONScanner.Member?, Int) = (nil, scanner.root)
      for name in path {
        guard let members = scanner.members(ofObjectAt: start) else {
          throw PlaintextFormatError(
            "The value that should contain \"\(name)\" isn't a JSON object.")
        }
        let same = members.filter { $0.name.hasSameBytes(name) }
        guard same.count < 2 else {
          throw PlaintextFormatError(
            "The member \"\(name)\" occurs several times.", code: .ambiguous)
        }
        guard let member = same.first else { return nil }
        (found, start) = (member, member.value.lowerBound)
      }
      return found
    }
  }

  private func isJSON(_ content: Secret) -> Bool {
    content.isUTF8 && content.decoded(as: Anything.self) != nil
  }
}
