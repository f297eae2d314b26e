// SPDX-License-Identifier: Apache-2.0

internal import KeyringStorage

/// A JSON object, in which a path consists of the names of members.
enum JSONFormat {
  private struct Anything: Decodable {
    init(from decoder: any Decoder) {}
  }

  @Sendable static func parts(
    of content: Secret
  ) throws(PlaintextFormatError) -> [PlaintextPart] {
    // The scanner relies on valid JSON.
    guard content.isUTF8, content.decoded(as: Anything.self) != nil else {
      throw PlaintextFormatError("The file isn't JSON.")
    }
    return try content.withUnsafeBytes { (bytes) throws(PlaintextFormatError) in
      let scanner = JSONScanner(bytes: bytes)
      guard let members = scanner.members(ofObjectAt: scanner.root) else {
        throw PlaintextFormatError("The file isn't a JSON object.")
      }
      var parts: [PlaintextPart] = []
      add(members, at: [], isListed: true, scanner, content, to: &parts)
      return parts
    }
  }

  /// Adds the members of an object, each before those that are in it.
  private static func add(
    _ members: [JSONScanner.Member], at path: [String], isListed: Bool, _ scanner: JSONScanner,
    _ content: Secret, to parts: inout [PlaintextPart]
  ) {
    for member in members {
      let path = path + [member.name]
      let inner = scanner.members(ofObjectAt: member.value.lowerBound)
      let isCredential =
        inner?.count == 2 && content[member.value].decoded(as: ExternalCredential.self) != nil
      var part = PlaintextPart(path: path, range: member.range) { value($0[member.value]) }
      part.endOfPrevious = member.endOfPrevious
      part.isLast = member.isLast
      part.isObject = inner != nil
      part.isListed = isListed && (inner == nil || isCredential)
      parts.append(part)
      if let inner {
        add(inner, at: path, isListed: isListed && !isCredential, scanner, content, to: &parts)
      }
    }
  }

  private static func value(_ json: Secret) -> PlaintextPart.Value {
    if json == Secret("null") { return .none }
    guard json.withUnsafeBytes({ $0.first }) == UInt8(ascii: "\"") else {
      return .value(.json(json))
    }
    return json.decoded(as: String.self).map { .value(.text(Secret($0))) }
      ?? .unusable("isn't text")
  }
}
