// SPDX-License-Identifier: Apache-2.0

#if Sealing
internal import Crypto
internal import KeyringPlatform
package import KeyringStorage

/// A key of 256 bits that encrypts content and other keys.
package struct SealingKey: Sendable {
  /// The bytes of the key.
  let bytes: Secret

  /// Creates a random key.
  package init() { bytes = .randomKey() }

  init(_ bytes: Secret) { self.bytes = bytes }

  init(_ key: SymmetricKey) { bytes = key.withUnsafeBytes { Secret(copying: $0) } }

  /// The key for a single operation.
  ///
  /// Its memory is overwritten on release, but can be swapped out.
  private var key: SymmetricKey { bytes.withUnsafeBytes { SymmetricKey(data: $0) } }

  /// An error of the encryption, which tells an attacker as little as possible.
  package struct Failure: Error {
    package init() {}
  }

  // MARK: - Encrypting

  /// The number of bytes that encryption adds: the nonce and the tag.
  package static let overhead = 12 + 16

  /// Encrypts content, and appends the nonce, the encrypted content and the tag to other bytes.
  ///
  /// The nonce is random. The probability that two of 2^32 messages with one key share a nonce is below
  /// 2^-32, which is the bound of NIST SP 800-38D, section 8.3.
  ///
  /// - Parameters:
  ///   - content: The content.
  ///   - data: Data that stays readable, but that the decryption needs.
  ///   - bytes: The bytes to append to.
  /// - Throws: `Failure` of the encryption.
  package func seal(
    _ content: Secret, authenticating data: [UInt8], appendingTo bytes: inout [UInt8]
  ) throws(Failure) {
    do {
      let box = try content.withUnsafeBytes {
        try AES.GCM.seal($0, using: key, authenticating: data)
      }
      bytes.reserveCapacity(bytes.count + content.count + Self.overhead)
      bytes += box.nonce
      bytes += box.ciphertext
      bytes += box.tag
    } catch {
      throw Failure()
    }
  }

  /// Decrypts what ``seal(_:authenticating:appendingTo:)`` has appended.
  package func open(
    _ sealed: ArraySlice<UInt8>, authenticating data: [UInt8]
  ) throws(Failure) -> Secret {
    do {
      let box = try AES.GCM.SealedBox(combined: sealed)
      var bytes = try AES.GCM.open(box, using: key, authenticating: data)
      defer { bytes.zeroize() }
      return bytes.withUnsafeBytes { Secret(copying: $0) }
    } catch {
      throw Failure()
    }
  }

  // MARK: - Deriving

  /// Returns a key that is derived from this one for a purpose.
  package func derived(for purpose: String) -> SealingKey {
    SealingKey(
      HKDF<SHA256>.deriveKey(
        inputKeyMaterial: key, info: Array(purpose.utf8), outputByteCount: 32))
  }

  /// Returns the HMAC-SHA256 of bytes.
  package func authenticationCode(for bytes: [UInt8]) -> [UInt8] {
    Array(HMAC<SHA256>.authenticationCode(for: bytes, using: key))
  }

  /// Returns `true` for bytes with this code, in a time that is the same for each code.
  package func isValid(_ code: some Collection<UInt8>, for bytes: [UInt8]) -> Bool {
    HMAC<SHA256>.isValidAuthenticationCode(Array(code), authenticating: bytes, using: key)
  }
}
#endif
