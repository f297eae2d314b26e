// SPDX-License-Identifier: Apache-2.0

#if Etcd
internal import KeyringSealing
internal import KeyringStorage

/// An item with everything that is stored with it.
struct FleetItem: Sendable {
  /// The number of bytes of the identifier of a write.
  static let writeIDByteCount = 16

  let record: ItemRecord
  /// The decrypted bytes, and the part of them that is the secret.
  private let stored: (content: Secret, secret: Range<Int>)
  /// The identifier of the write that stored the item, which tells its author that it was done.
  let writeID: [UInt8]
  /// The revision in which the item was stored, which orders the items.
  ///
  /// An item that is only encrypted with another key keeps its place.
  let order: Int64
  /// The revision in which the value in etcd was last changed.
  let revision: Int64

  /// The damage to a value, as it ends a sentence about the value.
  enum Damage: String, Error {
    case format = "has an unknown format"
    case unknownKey = "is encrypted with a key that the namespace doesn't have"
    case content = "isn't what was stored there"
  }

  init(
    _ record: ItemRecord, _ secret: Secret, writeID: [UInt8], order: Int64 = 0, revision: Int64 = 0
  ) {
    (self.record, self.writeID) = (record, writeID)
    stored = (secret, 0..<secret.count)
    (self.order, self.revision) = (order, revision)
  }

  /// The secret, which each use copies from the decrypted bytes.
  var secret: Secret {
    withSecret { Secret(copying: $0) }
  }

  private func withSecret<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    stored.content.withUnsafeBytes { bytes in
      body(UnsafeRawBufferPointer(rebasing: bytes[stored.secret]))
    }
  }

  /// Returns the item with the parts that a query asks for.
  func item(_ details: ItemQuery.Details) -> SecureItem { record.item(details, secret: secret) }

  /// The same item in the same place of the order, to encrypt it with another key.
  var moved: FleetItem { FleetItem(record, secret, writeID: writeID, order: order) }

  /// The bytes to encrypt.
  var content: Secret { Secret(writing: write(to:)) }

  private func write(to writer: inout ByteWriter) {
    writeID.withUnsafeBytes { writer.write(bytes: $0) }
    writer.write(order)
    record.write(to: &writer)
    writer.write(UInt32(stored.secret.count))
    withSecret { writer.write(bytes: $0) }
  }

  init(_ content: Secret, revision: Int64) throws(MalformedRecord) {
    let (id, order, record, secret) = try content.withUnsafeBytes {
      (bytes) throws(MalformedRecord) in
      var reader = ByteReader(bytes)
      let id = Array(bytes[try reader.skip(Self.writeIDByteCount)])
      let order: Int64 = try reader.integer()
      let record = try ItemRecord(&reader)
      let secret = try reader.skippedBytes()
      guard reader.isAtEnd else { throw MalformedRecord() }
      return (id, order, record, secret)
    }
    (self.record, self.writeID) = (record, id)
    stored = (content, secret)
    (self.order, self.revision) = (order == 0 ? revision : order, revision)
  }
}
#endif
