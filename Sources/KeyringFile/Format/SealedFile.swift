// SPDX-License-Identifier: Apache-2.0

#if EncryptedFile
internal import KeyringSealing
internal import KeyringStorage

/// A file as it is on the disk: the header, followed by the encrypted content.
struct SealedFile {
  let header: FileHeader
  /// The nonce, the encrypted content, and the tag.
  let content: ArraySlice<UInt8>

  init(_ bytes: [UInt8], _ place: FileLocation) throws(SecureStorageError) {
    header = try FileHeader(bytes, place)
    content = bytes[FileHeader.byteCount...]
  }

  /// Encrypts content and returns the bytes of the whole file.
  static func bytes(
    sealing content: Secret, _ envelope: Envelope
  ) throws(SecureStorageError) -> [UInt8] {
    let header = FileHeader(envelope.wrappedKey).bytes
    var file = header
    do throws(SealingKey.Failure) {
      try envelope.dataKey.seal(content, authenticating: header, appendingTo: &file)
    } catch {
      throw SecureStorageError(.other, "The content can't be encrypted.")
    }
    return file
  }

  /// Decrypts the content.
  func open(_ envelope: Envelope, _ place: FileLocation) throws(SecureStorageError) -> Secret {
    do throws(SealingKey.Failure) {
      return try envelope.dataKey.open(content, authenticating: header.bytes)
    } catch {
      throw .damaged(place, "its content and its header don't belong together")
    }
  }
}
#endif
