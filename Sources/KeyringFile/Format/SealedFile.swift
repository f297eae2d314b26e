#if EncryptedFile
internal import Crypto
internal import KeyringStorage

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

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
  ///
  /// The nonce is random. The probability that two of 2^32 writes with one data key share a nonce is below
  /// 2^-32, which is the bound of NIST SP 800-38D, section 8.3.
  static func bytes(
    sealing content: Secret, _ envelope: Envelope, _ place: FileLocation
  ) throws(SecureStorageError) -> [UInt8] {
    let header = envelope.header.bytes
    do {
      let box = try content.withUnsafeBytes { bytes in
        try AES.GCM.seal(bytes, using: envelope.dataKey, authenticating: header)
      }
      var file: [UInt8] = []
      file.reserveCapacity(header.count + 12 + content.count + 16)
      file += header
      file += box.nonce
      file += box.ciphertext
      file += box.tag
      return file
    } catch {
      throw SecureStorageError(.other, place, "The content cannot be encrypted.")
    }
  }

  /// Decrypts the content.
  func opened(_ envelope: Envelope, _ place: FileLocation) throws(SecureStorageError) -> Secret {
    do {
      let box = try AES.GCM.SealedBox(combined: content)
      var bytes = try AES.GCM.open(
        box, using: envelope.dataKey, authenticating: header.bytes)
      defer { bytes.wipe() }
      return bytes.withUnsafeBytes { Secret(copying: $0) }
    } catch {
      throw .damaged(place, "its content is not what was written with this header")
    }
  }
}
#endif
