// SPDX-License-Identifier: Apache-2.0

extension String {
  /// The text as a single line that's safe to print to a terminal.
  ///
  /// Labels can come from other programs. They may contain line breaks, escape sequences, and characters
  /// that change the direction of writing.
  package var inOneLine: String {
    if utf8.allSatisfy({ (0x20...0x7E).contains($0) }) { return self }
    return replacingScalars(by: " ") { scalar in
      switch scalar.properties.generalCategory {
      case .control, .lineSeparator, .paragraphSeparator: true
      default: scalar.properties.isBidiControl
      }
    }
  }

  /// The beginning of the text, as a single line of at most 500 bytes.
  ///
  /// An error quotes the text of another program so. That may be of any length.
  package var excerpt: String {
    let (line, most) = (inOneLine, 500)
    guard line.utf8.count > most else { return line }
    let ellipsis = "…"
    var end = line.utf8.index(line.startIndex, offsetBy: most - ellipsis.utf8.count)
    while end.samePosition(in: line) == nil { end = line.utf8.index(before: end) }
    return line[..<end] + ellipsis
  }

  /// Returns the text with some of its scalars replaced.
  ///
  /// The method replaces scalars instead of characters, because a slash with a combining mark is another
  /// character than a slash, and "\r\n" is a single character.
  package func replacingScalars(
    by other: Unicode.Scalar, where isReplaced: (Unicode.Scalar) -> Bool
  ) -> String {
    // Most texts stay as they are, and looking is far less work.
    guard unicodeScalars.contains(where: isReplaced) else { return self }
    return String(UnicodeScalarView(unicodeScalars.map { isReplaced($0) ? other : $0 }))
  }
}
