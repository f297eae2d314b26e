// SPDX-License-Identifier: Apache-2.0

#if Sealing
internal import KeyringStorage

/// The parameters of a wrapping key: the kind of its source, its cost, and its salt.
package struct KeyParameters: Sendable, Equatable {
  package static let byteCount = 6 + saltByteCount
  private static let saltByteCount = 32

  let kind: KeySource.Kind
  /// The cost of deriving a key from a passphrase, or `nil` for a source that needs none.
  package let cost: ScryptCost?
  let salt: [UInt8]

  init(of source: KeySource) {
    (kind, cost) = (source.kind, source.cost)
    salt = .random(Self.saltByteCount)
  }

  /// The parameters as bytes: the kind, the cost, two zeros, and the salt.
  package var bytes: [UInt8] {
    let cost: [UInt8] = cost.map { [$0.logarithm, $0.blockSize, $0.parallelism] } ?? [0, 0, 0]
    return [kind.rawValue] + cost + [0, 0] + salt
  }

  /// The name of the derived key, which can't be guessed and reveals nothing about the key.
  var keyName: String { salt.hexadecimal }

  /// Reads parameters, or returns `nil` for impossible values.
  package init?(_ bytes: some Sequence<UInt8>) {
    let bytes = Array(bytes)
    guard bytes.count == Self.byteCount, let kind = KeySource.Kind(rawValue: bytes[0]),
      bytes[4] == 0, bytes[5] == 0
    else { return nil }
    self.kind = kind
    salt = Array(bytes[6...])
    let cost = ScryptCost(logarithm: bytes[1], blockSize: bytes[2], parallelism: bytes[3])
    if kind == .passphrase {
      guard cost.isAcceptable else { return nil }
      self.cost = cost
    } else {
      guard bytes[1..<4].allSatisfy({ $0 == 0 }) else { return nil }
      self.cost = nil
    }
  }
}
#endif
