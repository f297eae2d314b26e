// SPDX-License-Identifier: Apache-2.0

public import KeyringStorage

/// A value of a plaintext source, with its name.
public struct PlaintextEntry: Sendable {
  /// A kind of value.
  public enum Kind: Sendable, Hashable {
    /// Text.
    case text
    /// A JSON object with the members `login` and `password`, and no others.
    case credential
    /// Any other JSON.
    case json
    /// A value from which no item can be made, for the reason that a phrase tells.
    case unusable(String)
  }

  /// The names on the way to the value, or none if the file has no name for it.
  public let path: [String]
  /// The number of the line in the file, from 1.
  public let line: Int
  /// The kind of value.
  public let kind: Kind
  /// The text or the JSON, or nothing if the value is unusable.
  public let secret: Secret

  /// Returns a mapping of the value to an item of its kind.
  ///
  /// Text becomes a password, an object with a login and a password a credential, and other JSON a value.
  ///
  /// - Parameter key: The key of the item.
  /// - Returns: The mapping.
  public func mapping(to key: ItemKey) -> PlaintextMapping {
    switch kind {
    case .credential:
      PlaintextMapping(path: path, key: key, parse: ItemCoding.credential.parse)
    case .text, .json, .unusable:
      PlaintextMapping(path: path, as: key) { SecureItem(key: key, secret: $0) }
    }
  }
}

extension PlaintextEntry {
  /// Creates an entry for a value in a file.
  init(_ name: PlaintextName, _ value: ExternalValue, in content: Secret) {
    path = name.path
    line = Self.line(name, content)
    switch value {
    case .text(let text), .bytes(let text):
      kind = .text
      secret = text
    case .json(let json):
      kind = json.decoded(as: ExternalCredential.self) == nil ? .json : .credential
      secret = json
    }
  }

  /// Creates an entry for a value from which no item can be made.
  init(_ name: PlaintextName, unusable problem: String, in content: Secret) {
    (path, line) = (name.path, Self.line(name, content))
    (kind, secret) = (.unusable(problem), Secret(""))
  }

  private static func line(_ name: PlaintextName, _ content: Secret) -> Int {
    content.withUnsafeBytes { bytes in
      // A pair of both ends one line.
      bytes[..<name.position].indices.count { position in
        bytes[position] == UInt8(ascii: "\r")
          || bytes[position] == UInt8(ascii: "\n")
            && (position == 0 || bytes[position - 1] != UInt8(ascii: "\r"))
      } + 1
    }
  }
}
