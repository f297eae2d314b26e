// SPDX-License-Identifier: Apache-2.0

extension String {
  /// The text on one line, without characters that affect the terminal.
  ///
  /// Other programs choose labels and attributes too, and may put newlines and escape sequences in them.
  package var printable: String {
    unicodeScalars.reduce(into: "") { text, scalar in
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator:
        text += scalar.escaped(asASCII: true)
      default: text.unicodeScalars.append(scalar)
      }
    }
  }

  /// Returns the text with spaces at its end, at least as many characters as a width.
  func padded(to width: Int) -> String {
    self + String(repeating: " ", count: max(0, width - count))
  }
}
