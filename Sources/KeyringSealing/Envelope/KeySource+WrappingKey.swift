#if EncryptedFile
internal import Crypto
internal import CryptoExtras
internal import KeyringFoundation
internal import KeyringStorage

extension KeySource {
  /// Derives the key that encrypts the data key, with scrypt from a passphrase or with HKDF from a key.
  func wrappingKey(
    _ parameters: KeyParameters, for use: WrappedKey.Use, _ request: KeyRequest
  ) async throws(SecureStorageError) -> SymmetricKey {
    let secret = try await secret(for: request)
    guard let cost = parameters.cost else {
      let key = secret.withUnsafeBytes { SymmetricKey(data: $0) }
      return HKDF<SHA256>.deriveKey(
        inputKeyMaterial: key, salt: parameters.salt, info: Array(use.name.utf8),
        outputByteCount: 32)
    }
    do {
      return try secret.withUnsafeBytes { passphrase in
        try KDF.Scrypt.deriveKey(
          from: passphrase, salt: parameters.salt, outputByteCount: 32, rounds: cost.rounds,
          blockSize: Int(cost.blockSize), parallelism: Int(cost.parallelism))
      }
    } catch {
      throw request.error(
        .other, "The key can't be derived from the passphrase.",
        recoverySuggestion:
          "Free some memory: the derivation takes \(cost.rounds * Int(cost.blockSize) >> 13) MiB.")
    }
  }
}
#endif
