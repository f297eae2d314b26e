// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The kind, the parts and the schema of a key, with cached values that are derived from them.
///
/// Computing these values takes longer than finding the item.
@usableFromInline
final class ItemName: Sendable {
  let kind: ItemKind
  let attributes: [String: String]
  /// The schema, or `nil` for the one that items of the kind have.
  let schema: String?
  /// The kind, all parts, and then the schema, if any, as one array.
  ///
  /// Each text is preceded by its length, and only a schema makes their number even, so that different keys have
  /// different bytes. All programs have the same ones.
  let bytes: [UInt8]
  @usableFromInline
  let hash: Int
  /// Whether a part may be empty, and a server any text, as in items of other programs.
  let hasAnyParts: Bool
  let isValidated = Atomic(false)

  init(_ kind: ItemKind, _ attributes: [String: String], _ schema: String?, hasAnyParts: Bool) {
    self.kind = kind
    self.schema = schema.flatMap { $0 == kind.schema ? nil : $0 }
    self.hasAnyParts = hasAnyParts
    self.attributes = attributes
    let parts = attributes.inOrder
    var bytes: [UInt8] = []
    bytes.reserveCapacity(
      parts.reduce(kind.rawValue.utf8.count) { $0 + $1.key.utf8.count + $1.value.utf8.count }
        + (1 + 2 * parts.count) * MemoryLayout<UInt64>.size)
    func append(_ text: String) {
      unsafe withUnsafeBytes(of: UInt64(text.utf8.count).littleEndian) { unsafe bytes += $0 }
      bytes += text.utf8
    }
    append(kind.rawValue)
    for (name, value) in parts {
      append(name)
      append(value)
    }
    if let schema = self.schema { append(schema) }
    self.bytes = bytes
    // An array would combine its bytes one by one.
    var hasher = Hasher()
    unsafe bytes.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
    hash = hasher.finalize()
  }

  /// Compares the kind, the parts and the schema of two names.
  // The compiler then knows that a dictionary needn't hold its key meanwhile.
  @_effects(readonly)
  @usableFromInline
  func hasSameBytes(_ other: ItemName) -> Bool {
    unsafe bytes.withUnsafeBytes { left in
      unsafe other.bytes.withUnsafeBytes { unsafe left.hasSameBytes($0) }
    }
  }
}
