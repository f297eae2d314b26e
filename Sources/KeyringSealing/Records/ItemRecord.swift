// SPDX-License-Identifier: Apache-2.0

#if Sealing
internal import KeyringPlatform
package import KeyringStorage

/// An item as a storage encrypts it, except for its secret.
package struct ItemRecord: Sendable {
  package let key: ItemKey
  package let label: String
  package let attributes: [String: String]
  /// The time of creation, in microseconds since 1970.
  package let created: Int64
  /// The time of the last change, in microseconds since 1970.
  package let modified: Int64

  /// Creates the record of an item to save.
  ///
  /// - Parameters:
  ///   - item: The item. Its properties that are `nil` stay as they are.
  ///   - old: The record of the stored item, or `nil` for a new one.
  package init(saving item: SecureItem, over old: ItemRecord?) {
    let now = Int64((Date().timeIntervalSince1970 * 1e6).rounded(.down))
    key = item.key
    label = item.label ?? old?.label ?? item.key.defaultLabel
    attributes = (old?.attributes ?? [:]).merging(item.attributes ?? [:]) { $1 }
    (created, modified) = (old?.created ?? now, now)
  }

  /// Returns the item with the parts that a query asks for.
  ///
  /// - Parameters:
  ///   - details: The parts.
  ///   - secret: The secret, which is evaluated only for a query that asks for it.
  /// - Returns: The item.
  package func item(
    _ details: ItemQuery.Details, secret: @autoclosure () -> Secret
  ) -> SecureItem {
    var item = SecureItem(key: key)
    if details.contains(.metadata) {
      (item.label, item.attributes, item.isLocked) = (label, attributes, false)
      (item.created, item.modified) = (Self.date(created), Self.date(modified))
    }
    if details.contains(.secret) { item.secret = secret() }
    return item
  }

  private static func date(_ microseconds: Int64) -> Date {
    Date(timeIntervalSince1970: Double(microseconds) / 1e6)
  }

  package func write(to writer: inout ByteWriter) {
    writer.write(created)
    writer.write(modified)
    writer.write(text: key.storedKind)
    writer.write(attributes: key.attributes)
    writer.write(text: label)
    writer.write(attributes: attributes)
  }

  package init(_ reader: inout ByteReader) throws(MalformedRecord) {
    created = try reader.integer()
    modified = try reader.integer()
    let kind = try reader.text()
    key = ItemKey(storedKind: kind[...], attributes: try reader.attributes())
    label = try reader.text()
    attributes = try reader.attributes()
  }
}
#endif
