// SPDX-License-Identifier: Apache-2.0

#if EncryptedFile
internal import KeyringSealing

/// The fields of a record in front of the secret.
struct RecordHeader {
  let revision: UInt64
  let item: ItemRecord

  init(revision: UInt64, item: ItemRecord) { (self.revision, self.item) = (revision, item) }

  func write(to writer: inout ByteWriter) {
    writer.write(revision)
    item.write(to: &writer)
  }

  init(_ reader: inout ByteReader) throws(MalformedRecord) {
    revision = try reader.integer()
    item = try ItemRecord(&reader)
  }
}
#endif
