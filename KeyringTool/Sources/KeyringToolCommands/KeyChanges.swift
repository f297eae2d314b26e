// SPDX-License-Identifier: Apache-2.0

internal import KeyringStorage

/// The parts of a key that a command changes.
public struct KeyChanges: Sendable {
  /// A part of a key, with the name of its option.
  public enum Part: String, Sendable, CaseIterable {
    case service, server, port, `protocol`, path, domain, authentication, account
    case accessGroup = "access-group"
    case credential, schema
  }

  private let parts: [Part: String]

  /// Creates changes.
  ///
  /// - Parameter parts: The new parts. An empty text leaves a part out.
  /// - Throws: ``ItemSelection/Unclear`` if an internet password can't have one of them.
  public init(_ parts: [Part: String]) throws(ItemSelection.Unclear) {
    var parts = parts
    if let port = parts[.port], !port.isEmpty {
      guard let number = UInt16(port) else {
        throw ItemSelection.Unclear(message: "The port isn't a number from 0 to 65535.")
      }
      // Other programs compare texts.
      parts[.port] = String(number)
    }
    if parts[.server]?.contains(where: { $0 == "/" || $0.isWhitespace }) == true {
      throw ItemSelection.Unclear(
        message: "The server is the name of a host, without spaces or the parts of a URL.")
    }
    self.parts = parts
  }

  /// Returns the new key of an item.
  ///
  /// - Parameter key: The old key.
  /// - Returns: The key with the changed parts.
  /// - Throws: ``ItemSelection/Unclear`` if items of this kind don't have one of the parts, or need one that
  ///   is left out.
  func newKey(for key: ItemKey) throws(ItemSelection.Unclear) -> ItemKey {
    var (attributes, schema) = (key.attributes, key.schema)
    for (part, value) in parts {
      if part == .schema {
        schema = value.isEmpty ? nil : value
        continue
      }
      guard let name = Self.names[key.kind]?[part] else {
        throw ItemSelection.Unclear(
          message: "A key of the kind \(key.kind.rawValue.printable) has no \(part.rawValue).")
      }
      guard value.isEmpty else {
        attributes[name] = value
        continue
      }
      if Self.isNeeded(part, by: key.kind) {
        throw ItemSelection.Unclear(message: "An item needs its \(part.rawValue).")
      }
      attributes[name] = nil
    }
    return ItemKey(kind: key.kind, attributes: attributes, schema: schema)
  }

  /// Returns `true` if each key of a kind has a part.
  static func isNeeded(_ part: Part, by kind: ItemKind) -> Bool {
    part == .account
      ? kind != .internetPassword : [.service, .credential, .server].contains(part)
  }

  /// The names of the attributes that are parts of a key.
  static let names: [ItemKind: [Part: String]] = [
    .password: ofAccounts, .value: ofAccounts,
    .credentials: [.service: "service", .credential: "label"],
    .internetPassword: [
      .server: "server", .account: "user", .port: "port", .protocol: "protocol", .path: "object",
      .domain: "domain", .authentication: "authtype",
    ],
  ]

  private static let ofAccounts: [Part: String] = [
    .service: "service", .account: "username", .accessGroup: "access-group",
  ]
}
