// SPDX-License-Identifier: Apache-2.0

package import KeyringFoundation
internal import KeyringLibc

extension UnsafeMutableRawBufferPointer {
  /// Overwrites the bytes with zeros.
  ///
  /// The optimizer may remove a plain memset of memory that's about to be freed.
  package func zeroize() {
    guard let baseAddress else { return }
    #if canImport(Darwin)
    memset_s(baseAddress, count, 0, count)
    #else
    explicit_bzero(baseAddress, count)
    #endif
  }
}

extension Data {
  /// Overwrites the bytes in place, which no other value may share.
  package mutating func zeroize() { withUnsafeMutableBytes { $0.zeroize() } }
}
