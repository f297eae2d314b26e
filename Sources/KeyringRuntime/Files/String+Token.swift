// SPDX-License-Identifier: Apache-2.0

extension String {
  /// Returns a random name that nothing else has.
  ///
  /// - Returns: 64 random bits, in letters and digits.
  package static func randomToken() -> String {
    String(UInt64.random(in: .min ... .max), radix: 36)
  }
}
