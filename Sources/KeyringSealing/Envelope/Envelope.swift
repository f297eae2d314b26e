#if EncryptedFile
internal import Crypto
internal import KeyringFoundation
package import KeyringStorage

/// A data key, together with its wrapped form.
///
/// The data key is random and encrypts the content. The key from a passphrase or another source encrypts
/// only the data key.
package struct Envelope: Sendable {
  package let wrappedKey: WrappedKey
  private let dataKey: SymmetricKey

  /// Creates an envelope with a new data key.
  package init(
    sealingWith source: KeySource, for use: WrappedKey.Use, _ request: KeyRequest
  ) async throws(SecureStorageError) {
    let parameters = KeyParameters(of: source)
    let wrappingKey = try await source.wrappingKey(parameters, for: use, request)
    dataKey = SymmetricKey(size: .bits256)
    do {
      let box = try dataKey.withUnsafeBytes {
        try AES.GCM.seal(
          $0, using: wrappingKey, authenticating: use.prefix + parameters.bytes)
      }
      guard let wrapped = box.combined else { throw CryptoKitError.wrapFailure }
      wrappedKey = WrappedKey(parameters, box: Array(wrapped))
    } catch {
      throw request.error(.other, "The key can't be wrapped.")
    }
  }

  /// Unwraps a data key.
  package init(
    opening wrappedKey: WrappedKey, with source: KeySource, for use: WrappedKey.Use,
    _ request: KeyRequest
  ) async throws(SecureStorageError) {
    self.wrappedKey = wrappedKey
    let parameters = wrappedKey.parameters
    guard (parameters.kind == .passphrase) == (source.kind == .passphrase) else {
      throw request.error(
        .wrongKey,
        "The \(request.subject) needs a \(parameters.kind.noun), but got a \(source.name).")
    }
    let wrappingKey = try await source.wrappingKey(parameters, for: use, request)
    do {
      let box = try AES.GCM.SealedBox(combined: wrappedKey.box)
      var key = try AES.GCM.open(
        box, using: wrappingKey, authenticating: use.prefix + parameters.bytes)
      defer { key.zeroize() }
      dataKey = SymmetricKey(data: key)
    } catch {
      throw request.error(
        .wrongKey,
        "The \(request.subject) was encrypted with another \(parameters.kind.noun).")
    }
  }

  /// An error of the encryption, without details that could help an attacker.
  package struct Failure: Error {}

  /// Encrypts content, and appends the nonce, the encrypted content and the tag to other bytes.
  ///
  /// The nonce is random. The probability that two of 2^32 messages with one data key share a nonce is
  /// below 2^-32, which is the bound of NIST SP 800-38D, section 8.3.
  ///
  /// - Parameters:
  ///   - content: The content.
  ///   - data: Data that isn't encrypted, but without which the content can't be decrypted.
  ///   - bytes: The bytes to append to.
  /// - Throws: `Failure` if the content can't be encrypted.
  package func seal(
    _ content: Secret, authenticating data: [UInt8], appendingTo bytes: inout [UInt8]
  ) throws(Failure) {
    do {
      let box = try content.withUnsafeBytes {
        try AES.GCM.seal($0, using: dataKey, authenticating: data)
      }
      bytes.reserveCapacity(bytes.count + content.count + Self.overhead)
      bytes += box.nonce
      bytes += box.ciphertext
      bytes += box.tag
    } catch {
      throw Failure()
    }
  }

  /// The number of bytes that encryption adds: the nonce and the tag.
  package static let overhead = 12 + 16

  /// Decrypts what ``seal(_:authenticating:appendingTo:)`` has appended.
  package func open(
    _ sealed: ArraySlice<UInt8>, authenticating data: [UInt8]
  ) throws(Failure) -> Secret {
    do {
      let box = try AES.GCM.SealedBox(combined: sealed)
      var bytes = try AES.GCM.open(box, using: dataKey, authenticating: data)
      defer { bytes.zeroize() }
      return bytes.withUnsafeBytes { Secret(copying: $0) }
    } catch {
      throw Failure()
    }
  }
}
#endif
