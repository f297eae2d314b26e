#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A value as it was found in plaintext; in memory that is wiped.
package enum PlaintextValue: Sendable {
  /// Text.
  case text(Secret)
  /// Bytes, or JSON that an app has encoded itself.
  case bytes(Secret)
  /// Any JSON but a string.
  case json(Secret)

  /// What it is as text.
  var text: Secret? {
    switch self {
    case .text(let text), .bytes(let text): text.isUTF8 ? text : nil
    case .json: nil
    }
  }

  /// Its JSON, and what that is as a value of a type.
  func json<Value: Decodable>(as type: Value.Type) -> (json: Secret, value: Value)? {
    for json in possibleJSON(isText: type is String.Type) {
      if let value = json.decoded(as: type) { return (json, value) }
    }
    return nil
  }

  private func possibleJSON(isText: Bool) -> [Secret] {
    switch self {
    case .json(let json), .bytes(let json): [json]
    // Text is what it says; for another type it is JSON, or a string that stands for a value.
    case .text(let text): (isText ? [] : [text]) + [text.quoted].compactMap(\.self)
    }
  }
}

/// A credential in JSON: nothing but a login and a password, as whatever else is there would be lost.
struct PlaintextCredential: Decodable {
  let login: String
  let password: String

  init(from decoder: any Decoder) throws {
    let members = try decoder.singleValueContainer().decode([String: String].self)
    guard members.count == 2, let login = members["login"], let password = members["password"]
    else {
      throw DecodingError.dataCorrupted(
        DecodingError.Context(codingPath: [], debugDescription: "not a login and a password"))
    }
    (self.login, self.password) = (login, password)
  }
}

extension Secret {
  /// Decodes JSON, in memory that is not wiped.
  func decoded<Value: Decodable>(as type: Value.Type) -> Value? {
    var data = withUnsafeBytes { Data($0) }
    defer { data.resetBytes(in: data.indices) }
    // What the decoder says could quote the secret; that it failed is all there is to tell.
    return try? JSONDecoder().decode(type, from: data)
  }

  /// The text as a string of JSON.
  fileprivate var quoted: Secret? {
    guard let text, var data = try? JSONEncoder().encode(text) else { return nil }
    defer { data.resetBytes(in: data.indices) }
    return Secret(bytes: data)
  }
}
