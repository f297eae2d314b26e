extension String {
  /// The text in one line that leaves the terminal alone: other programs choose labels and
  /// attributes too, and may put newlines and escape sequences in them.
  var printable: String {
    unicodeScalars.reduce(into: "") { text, scalar in
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator:
        text += scalar.escaped(asASCII: true)
      default: text.unicodeScalars.append(scalar)
      }
    }
  }
}
