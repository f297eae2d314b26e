extension String {
  /// The text in one line that leaves a terminal alone: other programs choose labels too, and may put
  /// line breaks, escape sequences and marks that turn the direction of writing in them.
  package var inOneLine: String {
    if utf8.allSatisfy({ (0x20...0x7E).contains($0) }) { return self }
    // Scalar by scalar: a line break and the mark behind it are one character.
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
