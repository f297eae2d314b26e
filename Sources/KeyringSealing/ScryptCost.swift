// SPDX-License-Identifier: Apache-2.0

#if Sealing
/// The parameters of scrypt, [RFC 7914](https://www.rfc-editor.org/rfc/rfc7914).
package struct ScryptCost: Sendable, Equatable {
  /// The standard cost: a quarter to half of a second, and 128 MiB.
  package static let standard = ScryptCost(logarithm: 17, blockSize: 8, parallelism: 1)

  /// The logarithm of N to the base 2.
  let logarithm: UInt8
  /// The parameter r.
  let blockSize: UInt8
  /// The parameter p.
  let parallelism: UInt8

  package init(logarithm: UInt8, blockSize: UInt8, parallelism: UInt8) {
    (self.logarithm, self.blockSize, self.parallelism) = (logarithm, blockSize, parallelism)
  }

  /// `true` for a cost that stored parameters may ask for.
  ///
  /// The limits are 256 MiB of memory and eight times the work of the standard cost.
  package var isAcceptable: Bool {
    guard (1...18).contains(logarithm), blockSize > 0, (1...4).contains(parallelism) else {
      return false
    }
    return 128 * rounds * Int(blockSize) <= 256 << 20
  }

  /// The parameter N.
  var rounds: Int { 1 << Int(logarithm) }
}
#endif
