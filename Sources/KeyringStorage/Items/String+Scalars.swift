// SPDX-License-Identifier: Apache-2.0

extension String {
  /// Returns the text with some of its scalars replaced.
  ///
  /// A slash with a combining mark is another character than a slash, but has the same scalar.
  package func replacingScalars(_ scalars: [Unicode.Scalar], by other: Unicode.Scalar) -> String {
    String(UnicodeScalarView(unicodeScalars.map { scalars.contains($0) ? other : $0 }))
  }
}
