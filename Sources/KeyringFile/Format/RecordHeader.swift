#if EncryptedFile
internal import KeyringStorage

/// The fields of a record in front of the secret.
struct RecordHeader {
  let revision: UInt64
  let created: Int64
  let modified: Int64
  let key: ItemKey
  let label: String
  let attributes: [String: String]

  init(
    revision: UInt64, created: Int64, modified: Int64, key: ItemKey, label: String,
    attributes: [String: String]
  ) {
    (self.revision, self.created, self.modified) = (revision, created, modified)
    (self.key, self.label, self.attributes) = (key, label, attributes)
  }

  func write(to writer: inout ByteWriter) {
    writer.write(revision)
    writer.write(created)
    writer.write(modified)
    writer.write(text: key.kind.rawValue)
    writer.write(attributes: key.attributes)
    writer.write(text: label)
    writer.write(attributes: attributes)
  }

  init(_ reader: inout ByteReader) throws(MalformedRecord) {
    revision = try reader.integer()
    created = try reader.integer()
    modified = try reader.integer()
    let kind = try reader.text()
    key = ItemKey(kind: ItemKind(rawValue: kind), attributes: try reader.attributes())
    label = try reader.text()
    attributes = try reader.attributes()
  }
}
#endif
