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

  init(_ header: RecordHeader, in memory: Secret, _ record: Range<Int>, secretCount: Int) {
    (revision, fields) = (header.revision, header.item)
    (self.memory, self.record, self.secretCount) = (memory, record, secretCount)
  }

  /// Encodes a new record.
  init(_ header: RecordHeader, _ secret: Secret) {
    let memory = Secret { writer in
      header.write(to: &writer)
      writer.write(UInt32(secret.count))
      secret.withUnsafeBytes { writer.write(bytes: $0) }
    }
    self.init(header, in: memory, 0..<memory.count, secretCount: secret.count)
  }

  /// A copy of the secret.
  var secret: Secret {
    memory.withUnsafeBytes {
      Secret(copying: UnsafeRawBufferPointer(rebasing: $0[record].suffix(secretCount)))
    }
  }

  /// Returns whether both entries come from the same write.
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
