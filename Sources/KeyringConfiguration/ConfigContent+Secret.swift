// SPDX-License-Identifier: Apache-2.0

#if Configuration
internal import Configuration
internal import KeyringPlatform
internal import KeyringStorage

extension ConfigContent {
  /// Converts a secret to a value of a type, or returns `nil` for one of another form.
  ///
  /// Readers of configuration expect plain values, so its memory isn't overwritten afterwards.
  init?(_ secret: Secret, as type: ConfigType) {
    let content: ConfigContent? =
      switch type {
      case .string: secret.text.map { .string($0) }
      case .int: secret.text.flatMap { Int($0) }.map { .int($0) }
      case .double: secret.text.flatMap { Double($0) }.map { .double($0) }
      case .bool: secret.text.flatMap(Self.bool).map { .bool($0) }
      case .bytes: unsafe .bytes(secret.withUnsafeBytes { unsafe Array($0) })
      case .stringArray: secret.decoded(as: [String].self).map { .stringArray($0) }
      case .intArray: secret.decoded(as: [Int].self).map { .intArray($0) }
      case .doubleArray: secret.decoded(as: [Double].self).map { .doubleArray($0) }
      case .boolArray: secret.decoded(as: [Bool].self).map { .boolArray($0) }
      case .byteChunkArray:
        secret.decoded(as: [Data].self).map { .byteChunkArray($0.map { Array($0) }) }
      }
    guard let content else { return nil }
    self = content
  }

  /// Returns the value of a text, as the providers of swift-configuration do for environment variables.
  private static func bool(_ text: String) -> Bool? {
    switch text.lowercased() {
    case "true", "yes", "1": true
    case "false", "no", "0": false
    default: nil
    }
  }
}
#endif
