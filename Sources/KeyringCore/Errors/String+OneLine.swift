// SPDX-License-Identifier: Apache-2.0

extension String {
  /// The text as a single line that's safe to print to a terminal.
  ///
  /// Labels can come from other programs. They may contain line breaks, escape sequences, and characters
  /// that change the direction of writing.
  package var inOneLine: String {
    if utf8.allSatisfy({ (0x20...0x7E).contains($0) }) { return self }
    // Replaces scalars instead of characters, because only scalars have these properties, and "\r\n" is a
    // single character.
    return String(
      String.UnicodeScalarView(
        unicodeScalars.map { scalar in
          switch scalar.properties.generalCategory {
          case .control, .lineSeparator, .paragraphSeparator: " "
          default: scalar.properties.isBidiControl ? " " : scalar
          }
        }))
  }
}
