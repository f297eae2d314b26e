// SPDX-License-Identifier: Apache-2.0

#if Sealing
package import KeyringStorage

/// A data key, together with its wrapped form.
///
/// The data key is random and encrypts the content. The key from a passphrase or another source encrypts
/// only the data key.
package struct Envelope: Sendable {
  package let wrappedKey: WrappedKey
  package let dataKey: SealingKey

  /// Creates an envelope with a new data key.
  package init(
    sealingWith source: KeySource, for use: WrappedKey.Use, _ request: KeyRequest
  ) async throws(SecureStorageError) {
    let wrapping = try await WrappingKey(of: source, for: use, request)
    dataKey = SealingKey()
    wrappedKey = WrappedKey(
      wrapping.parameters, box: try wrapping.wrap(dataKey, authenticating: [], request))
  }

  /// Unwraps a data key.
  package init(
    opening wrappedKey: WrappedKey, with source: KeySource, for use: WrappedKey.Use,
    _ request: KeyRequest
  ) async throws(SecureStorageError) {
    self.wrappedKey = wrappedKey
    let wrapping = try await WrappingKey(wrappedKey.parameters, of: source, for: use, request)
    dataKey = try wrapping.unwrap(wrappedKey.box, authenticating: [], request)
  }
}
#endif
