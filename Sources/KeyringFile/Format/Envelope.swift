#if EncryptedFile
internal import Crypto
internal import KeyringStorage

/// A header and the data key that is wrapped in it.
///
/// The data key is random and encrypts the content. The key from a passphrase or another source encrypts
/// only the data key.
struct Envelope: Sendable {
  let header: FileHeader
  let dataKey: SymmetricKey

  /// Creates an envelope with a new data key.
  init(sealingWith source: KeySource, _ place: FileLocation) throws(SecureStorageError) {
    let parameters = KeyParameters(source.kind, source.cost)
    let wrappingKey = try source.wrappingKey(parameters, .new, place)
    dataKey = SymmetricKey(size: .bits256)
    do {
      let box = try dataKey.withUnsafeBytes {
        try AES.GCM.seal($0, using: wrappingKey, authenticating: parameters.bytes)
      }
      guard let wrapped = box.combined else { throw CryptoKitError.wrapFailure }
      header = FileHeader(parameters, wrappedKey: Array(wrapped))
    } catch {
      throw SecureStorageError(.other, place, "The key can't be wrapped.")
    }
  }

  /// Unwraps the data key of a file.
  init(
    opening header: FileHeader, _ source: KeySource, _ purpose: KeySource.Purpose,
    _ place: FileLocation
  ) throws(SecureStorageError) {
    self.header = header
    let expected = header.parameters.kind
    guard (expected == .passphrase) == (source.kind == .passphrase) else {
      throw SecureStorageError(
        .wrongKey, place, "The file \(place.path) needs \(expected), but got \(source.kind).")
    }
    let wrappingKey = try source.wrappingKey(header.parameters, purpose, place)
    do {
      let box = try AES.GCM.SealedBox(combined: header.wrappedKey)
      var key = try AES.GCM.open(
        box, using: wrappingKey, authenticating: header.parameters.bytes)
      defer { key.wipe() }
      dataKey = SymmetricKey(data: key)
    } catch {
      // The checksum was correct, so the header is intact.
      throw SecureStorageError(
        .wrongKey, place, "The file \(place.path) was encrypted with another \(expected.noun).")
    }
  }
}
#endif
