// SPDX-License-Identifier: Apache-2.0

#if Sealing
internal import Crypto
internal import _CryptoExtras
internal import KeyringPlatform
internal import KeyringRuntime
package import KeyringStorage

/// A key that encrypts other keys, derived from the key or the passphrase of a source.
package struct WrappingKey: Sendable {
  package let parameters: KeyParameters
  private let key: SealingKey
  /// The bytes that each wrapped key authenticates.
  private let prefix: [UInt8]
  private let holder: KeyHolder?
  /// `true` for a key that may have been copied with an extra line feed.
  private let endsWithLineFeed: Bool
  /// `true` for a key that came from the holder.
  private let isHeld: Bool

  /// Derives the key, with scrypt from a passphrase or with HKDF from a key.
  ///
  /// - Parameters:
  ///   - stored: The parameters that were stored, or `nil` for a new key.
  ///   - source: The source of the passphrase or the key.
  ///   - use: The format that the wrapped keys are used in.
  ///   - request: The request that the source answers.
  /// - Throws: `.wrongKey` for a source of another kind, or the error of the source.
  package init(
    _ stored: KeyParameters? = nil, of source: KeySource, for use: WrappedKey.Use,
    _ request: KeyRequest
  ) async throws(SecureStorageError) {
    let parameters = stored ?? KeyParameters(of: source)
    guard (parameters.kind == .passphrase) == (source.kind == .passphrase) else {
      throw request.error(
        .wrongKey,
        "The \(request.subject) needs a \(parameters.kind.noun), but got a \(source.name).")
    }
    self.parameters = parameters
    prefix = use.prefix + parameters.bytes
    holder = source.holder
    if let held = holder?.key(parameters.keyName) {
      key = SealingKey(held)
      isHeld = true
      endsWithLineFeed = false
      return
    }
    isHeld = false
    KeyringEvent.report(.keyRequested(from: source.kind.noun, backend: request.backendName))
    let secret = try await source.secret(for: request)
    endsWithLineFeed =
      parameters.cost == nil && secret.count > 32
      && secret.withUnsafeBytes { $0.last == UInt8(ascii: "\n") }
    guard let cost = parameters.cost else {
      key = SealingKey(
        HKDF<SHA256>.deriveKey(
          inputKeyMaterial: secret.withUnsafeBytes { SymmetricKey(data: $0) },
          salt: parameters.salt, info: Array(use.name.utf8),
          outputByteCount: 32))
      return
    }
    do {
      key = SealingKey(
        try secret.withUnsafeBytes { passphrase in
          try KDF.Scrypt.deriveKey(
            from: passphrase, salt: parameters.salt, outputByteCount: 32, rounds: cost.rounds,
            blockSize: Int(cost.blockSize), parallelism: Int(cost.parallelism))
        })
    } catch {
      throw request.error(
        .other, "The key can't be derived from the passphrase.",
        recoverySuggestion: """
          Free memory. A key from a passphrase needs \(cost.rounds * Int(cost.blockSize) >> 13) MiB.
          """)
    }
  }

  /// Encrypts another key.
  ///
  /// - Parameters:
  ///   - other: The key to encrypt.
  ///   - data: Data that the decryption needs, in addition to the use and the parameters.
  ///   - request: The request that the wrapping key was derived for.
  /// - Returns: The encrypted key.
  /// - Throws: `.other` for a failed encryption.
  package func wrap(
    _ other: SealingKey, authenticating data: [UInt8], _ request: KeyRequest
  ) throws(SecureStorageError) -> [UInt8] {
    do throws(SealingKey.Failure) {
      var box: [UInt8] = []
      try key.seal(other.bytes, authenticating: prefix + data, appendingTo: &box)
      hold(request)
      return box
    } catch {
      throw request.error(.other, "The key can't be encrypted.")
    }
  }

  /// Decrypts a key that ``wrap(_:authenticating:_:)`` has encrypted.
  package func unwrap(
    _ box: some Collection<UInt8>, authenticating data: [UInt8], _ request: KeyRequest
  ) throws(SecureStorageError) -> SealingKey {
    do throws(SealingKey.Failure) {
      let other = try key.open(ArraySlice(box), authenticating: prefix + data)
      hold(request)
      return SealingKey(other)
    } catch {
      if isHeld { holder?.forget(parameters.keyName) }
      throw request.error(
        .wrongKey,
        "The \(request.subject) was encrypted with another \(parameters.kind.noun).",
        recoverySuggestion: endsWithLineFeed
          ? "The key ends with a line feed, which an editor or a shell may have added. Copy the key without it."
          : nil)
    }
  }

  /// Passes the key to its holder, now that it's known to be the right one.
  private func hold(_ request: KeyRequest) {
    guard !isHeld, request.purpose != .inspection else { return }
    holder?.hold(parameters.keyName, key.bytes)
  }
}
#endif
