// SPDX-License-Identifier: Apache-2.0

#if Sealing
extension [UInt8] {
  /// Returns bytes from the system's source of randomness.
  package static func random(_ count: Int) -> [UInt8] {
    (0..<count).map { _ in .random(in: 0...255) }
  }
}
#endif
