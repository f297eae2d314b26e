#if Configuration
internal import Configuration
internal import KeyringStorage

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension ConfigContent {
  /// Converts a secret to a value of a type, or returns `nil` if that isn't possible.
  ///
  /// The value is in memory that isn't overwritten afterwards, because readers of configuration expect
  /// plain values.
  init?(_ secret: Secret, as type: ConfigType) {
    let content: ConfigContent? =
      switch type {
      case .string: secret.text.map { .string($0) }
      case .int: secret.text.flatMap { Int($0) }.map { .int($0) }
      case .double: secret.text.flatMap { Double($0) }.map { .double($0) }
      case .bool: secret.text.flatMap { Bool($0) }.map { .bool($0) }
      case .bytes: .bytes(secret.withUnsafeBytes { Array($0) })
      case .stringArray: secret.array().map { .stringArray($0) }
      case .intArray: secret.array().map { .intArray($0) }
      case .doubleArray: secret.array().map { .doubleArray($0) }
      case .boolArray: secret.array().map { .boolArray($0) }
      case .byteChunkArray:
        secret.array().map { (chunks: [Data]) in .byteChunkArray(chunks.map { Array($0) }) }
      }
    guard let content else { return nil }
    self = content
  }
}

extension Secret {
  fileprivate func array<Element: Decodable>() -> [Element]? {
    var data = withUnsafeBytes { Data($0) }
    defer { data.resetBytes(in: data.indices) }
    // The decoder's error could quote the secret, so it's dropped.
    return try? JSONDecoder().decode([Element].self, from: data)
  }
}
#endif
