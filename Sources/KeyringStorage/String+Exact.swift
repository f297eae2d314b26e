// Swift takes "e" with a combining accent and the one character for both as the same string. A
// keyring takes them as different, and so must every storage: text is not normalised.

extension String {
  /// Tells whether two texts are the same bytes.
  ///
  /// - Parameter other: The other text.
  /// - Returns: Whether they are.
  package func isExactly(_ other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}

extension [String: String] {
  /// Tells whether two sets of attributes have the same names with the same bytes as values.
  ///
  /// - Parameter other: The other attributes.
  /// - Returns: Whether they have.
  package func isExactly(_ other: [String: String]) -> Bool {
    count == other.count && isContained(in: other)
  }

  /// Tells whether other attributes have all of these names, with the same bytes as values.
  ///
  /// - Parameter other: The other attributes.
  /// - Returns: Whether they have.
  package func isContained(in other: [String: String]) -> Bool {
    allSatisfy { name, value in other[name]?.isExactly(value) ?? false }
  }
}
