// SPDX-License-Identifier: Apache-2.0

public import KeyringStorage

/// A value of a plaintext source, with its name.
///
/// ```swift
/// for entry in try PlaintextSource.environmentFile(path).entries() {
///   print("line \(entry.line): \(entry.path.joined(separator: "."))")
/// }
/// ```
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

  /// The names on the way to the value; empty for a value that has none.
  public let path: [String]
  /// The number of the line in the file, from 1.
  public let line: Int
  /// The range to cut out of the file to remove the value.
  let range: Range<Int>
  /// The kind of value.
  public let kind: Kind
  /// The text or the JSON, or nothing if the value is unusable.
  public let secret: Secret

  /// Creates an entry that a closure of ``PlaintextSource/file(_:entries:)`` has found.
  ///
  /// - Parameters:
  ///   - path: The names of the value, which must be the only one under them.
  ///   - kind: The kind of value.
  ///   - secret: The text or the JSON.
  ///   - range: The bytes of the file to cut out if the value is moved.
  public init(path: [String], kind: Kind, secret: Secret, range: Range<Int>) {
    (self.path, self.kind, self.secret, self.range) = (path, kind, secret, range)
    line = 0
  }

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
