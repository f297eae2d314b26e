// SPDX-License-Identifier: Apache-2.0

#if Sealing
/// A data key that is encrypted with the key of a source, as it's stored.
package struct WrappedKey: Sendable, Equatable {
  /// The format that a wrapped key is used in, so that no other format accepts the key.
  package struct Use: Sendable {
    /// The name from which the wrapping key is derived.
    let name: String
    /// The bytes in front of the parameters, which the wrapped key authenticates.
    let prefix: [UInt8]

    package init(name: String, prefix: [UInt8]) { (self.name, self.prefix) = (name, prefix) }
  }

  /// The number of bytes of ``bytes``.
  package static let byteCount = KeyParameters.byteCount + SealingKey.overhead + 32

  package let parameters: KeyParameters
  /// The nonce, the encrypted data key, and the tag.
  package let box: [UInt8]

  init(_ parameters: KeyParameters, box: [UInt8]) {
    (self.parameters, self.box) = (parameters, box)
  }

  /// The parameters and the encrypted data key.
  package var bytes: [UInt8] { parameters.bytes + box }

  /// Reads a wrapped key, or returns `nil` for impossible parameters.
  package init?(_ bytes: ArraySlice<UInt8>) {
    guard bytes.count == Self.byteCount,
      let parameters = KeyParameters(bytes.prefix(KeyParameters.byteCount))
    else { return nil }
    self.init(parameters, box: Array(bytes.dropFirst(KeyParameters.byteCount)))
  }
}
#endif
