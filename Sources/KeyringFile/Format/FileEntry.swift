// SPDX-License-Identifier: Apache-2.0

#if EncryptedFile
internal import KeyringSealing
internal import KeyringStorage

/// An item of the file: the bytes of its record, and the decoded fields except for the secret.
struct FileEntry: Sendable {
  let revision: UInt64
  let fields: ItemRecord

  /// The memory that contains the record, possibly among others.
  private var memory: Secret
  private var record: Range<Int>
  /// The number of bytes of the secret, with which the record ends.
  private let secretCount: Int

  /// Encodes a new record.
  init(_ fields: ItemRecord, _ secret: Secret, revision: UInt64) {
    memory = Secret { writer in
      writer.write(revision)
      fields.write(to: &writer)
      writer.write(UInt32(secret.count))
      secret.withUnsafeBytes { writer.write(bytes: $0) }
    }
    record = 0..<memory.count
    (self.revision, self.fields, secretCount) = (revision, fields, secret.count)
  }

  /// Decodes the next record.
  ///
  /// - Parameters:
  ///   - reader: The reader of the memory.
  ///   - memory: The memory that contains the record.
  /// - Throws: `MalformedRecord` if there is no such record.
  init(_ reader: inout ByteReader, in memory: Secret) throws(MalformedRecord) {
    let start = reader.position
    revision = try reader.integer()
    fields = try ItemRecord(&reader)
    secretCount = try reader.skippedBytes().count
    (self.memory, record) = (memory, start..<reader.position)
  }

  /// A copy of the secret.
  var secret: Secret { memory[record.suffix(secretCount)] }

  /// Returns `true` if both entries come from the same write.
  func isSame(as other: FileEntry) -> Bool {
    revision == other.revision && fields.created == other.fields.created
      && fields.modified == other.fields.modified
  }

  func withRecord(_ body: (UnsafeRawBufferPointer) -> Void) {
    memory.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[record])) }
  }

  /// Updates the location of the record after it was copied to other memory.
  mutating func move(to memory: Secret, at start: Int) {
    self.memory = memory
    record = start..<start + record.count
  }

  /// Returns the item with the requested details.
  func item(_ details: ItemQuery.Details) -> SecureItem { fields.item(details, secret: secret) }
}
#endif
