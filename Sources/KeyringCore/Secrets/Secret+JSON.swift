// SPDX-License-Identifier: Apache-2.0

package import KeyringPlatform

extension Secret {
  /// Encodes a value as JSON.
  ///
  /// The encoder's own copy is overwritten.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - encoder: The encoder.
  /// - Throws: The error of the encoder.
  package init(
    encoding value: some Encodable, with encoder: JSONEncoder = JSONEncoder()
  ) throws {
    var data = try encoder.encode(value)
    defer { data.zeroize() }
    self.init(bytes: data)
  }

  /// Decodes the secret as JSON.
  ///
  /// The decoder's error could quote the secret, so only the failure itself is reported.
  ///
  /// - Parameter type: The type of the value.
  /// - Returns: The value, or `nil` if the secret is something else. Its memory isn't overwritten.
  package func decoded<Value: Decodable>(as type: Value.Type) -> Value? {
    var data = unsafe withUnsafeBytes { unsafe Data($0) }
    defer { data.zeroize() }
    return try? JSONDecoder().decode(type, from: data)
  }
}
