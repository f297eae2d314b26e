// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
public import KeyringStorage

/// A listing of items as text, which identifies them to the user and never contains a secret.
public struct ItemListing: Sendable {
  private let items: [SecureItem]

  /// Creates a listing.
  ///
  /// - Parameter items: The items with their metadata.
  public init(_ items: [SecureItem]) {
    self.items = items
  }

  /// Whether there are no items.
  public var isEmpty: Bool { items.isEmpty }

  /// A line for each item, with its kind, its key, its label, the time of its last change, and its state.
  public var lines: [String] {
    let rows = items.map { item in
      [
        item.key.kind.rawValue.printable,
        Self.list(item.key.attributes, schema: item.key.schema),
        item.label?.printable ?? "", item.modified?.ISO8601Format() ?? "",
        [item.isForeign ? "another program's" : nil, item.isLocked == true ? "locked" : nil]
          .compactMap(\.self).joined(separator: ", "),
      ]
    }
    let widths = (0..<5).map { column in rows.map { $0[column].count }.max() ?? 0 }
    return rows.map { row in
      zip(row, widths).map { $0.padded(to: $1) }
        .joined(separator: "  ").replacing(#/ +$/#, with: "")
    }
  }

  /// A paragraph for each item, with everything except the secret.
  public var paragraphs: [String] {
    items.map { item in
      [
        ("kind", item.key.kind.rawValue.printable),
        ("key", Self.list(item.key.attributes, schema: item.key.schema)),
        ("label", item.label?.printable), ("attributes", item.attributes.map { Self.list($0) }),
        ("another program's", item.isForeign ? "yes" : nil),
        (item.isExpired ? "expired" : "expires", item.expires?.ISO8601Format()),
        ("created", item.created?.ISO8601Format()), ("modified", item.modified?.ISO8601Format()),
        ("locked", item.isLocked == true ? "yes" : nil),
      ]
      .compactMap { name, value in
        value.flatMap { $0.isEmpty ? nil : "\(name): \($0)" }
      }
      .joined(separator: "\n")
    }
  }

  /// Returns an array with an object for each item, with everything except the secret.
  ///
  /// - Returns: The JSON on one line.
  /// - Throws: An encoding error, which doesn't happen in practice.
  public func json() throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(items.map(Content.init)), as: UTF8.self)
  }

  private struct Content: Encodable {
    let kind: String
    let key: [String: String]
    let schema, label: String?
    let attributes: [String: String]?
    let created, modified, expires: String?
    let isExpired, isLocked: Bool?
    let isForeign: Bool

    init(_ item: SecureItem) {
      (kind, key, label) = (item.key.kind.rawValue, item.key.attributes, item.label)
      (schema, isForeign) = (item.key.schema, item.isForeign)
      (attributes, isLocked) = (item.attributes, item.isLocked)
      created = item.created?.ISO8601Format()
      modified = item.modified?.ISO8601Format()
      expires = item.expires?.ISO8601Format()
      isExpired = item.expires == nil ? nil : item.isExpired
    }
  }

  /// Returns a line for a change of an item.
  ///
  /// - Parameter change: The change.
  /// - Returns: The kind of the change, and the key of the item.
  public static func line(for change: ItemChange) -> String { change.description.printable }

  private static func list(_ attributes: [String: String], schema: String? = nil) -> String {
    var parts = attributes.sorted { $0.key < $1.key }
    if let schema { parts.append(("xdg:schema", schema)) }
    return parts.map { "\($0.key.printable)=\($0.value.printable)" }.joined(separator: " ")
  }
}

extension SecureItem {
  /// Whether the secret has expired.
  var isExpired: Bool { expires.map { $0 <= Date.now } ?? false }
}
