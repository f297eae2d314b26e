// SPDX-License-Identifier: Apache-2.0

#if EncryptedFile
internal import Crypto
internal import KeyringSealing
internal import KeyringStorage

/// The first bytes of a file, which contain everything that is needed to get its data key.
///
/// The article EncryptedFileFormat describes them.
struct FileHeader: Sendable, Equatable {
  private static let magic = Array("KEYRING\n".utf8)
  static let version: UInt16 = 1
  private static let prefix = magic + version.bigEndianBytes
  static let use = WrappedKey.Use(name: "swift-keyring file", prefix: prefix)
  private static let checkedByteCount = prefix.count + WrappedKey.byteCount
  static let byteCount = checkedByteCount + SHA256.byteCount

  let wrappedKey: WrappedKey

  init(_ wrappedKey: WrappedKey) { self.wrappedKey = wrappedKey }

  /// The header with its checksum.
  ///
  /// The checksum distinguishes a damaged header from a header with another key.
  var bytes: [UInt8] {
    let checked = Self.prefix + wrappedKey.bytes
    return checked + SHA256.hash(data: checked)
  }

  /// Reads the header of a file.
  init(_ file: [UInt8], _ place: FileLocation) throws(SecureStorageError) {
    guard file.starts(with: Self.magic) else {
      throw .damaged(place, "it doesn't begin like an encrypted file")
    }
    guard file.count >= Self.byteCount else { throw .damaged(place, "it is cut short") }
    let version = UInt16(bigEndianBytes: file[8..<10])
    guard version == Self.version else {
      throw SecureStorageError(
        .undecodable,
        "The file \(place.path) has format \(version); this program knows \(Self.version).",
        recoverySuggestion: "Use a newer version of the program, if there is one.")
    }
    let checked = file[..<Self.checkedByteCount]
    guard SHA256.hash(data: checked) == file[Self.checkedByteCount..<Self.byteCount] else {
      throw .damaged(place, "the checksum of its header is wrong")
    }
    guard let wrappedKey = WrappedKey(checked.dropFirst(Self.prefix.count)) else {
      throw .damaged(place, "its header has invalid values")
    }
    self.init(wrappedKey)
  }
}
#endif
