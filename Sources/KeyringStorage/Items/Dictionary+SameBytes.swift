// SPDX-License-Identifier: Apache-2.0

extension [String: String] {
  /// Returns `true` if two sets of attributes have the same names and values, byte for byte.
  ///
  /// - Parameter other: The other attributes.
  /// - Returns: `true` if the names and values are the same.
  package func hasSameBytes(_ other: [String: String]) -> Bool {
    count == other.count && isContained(in: other)
  }

  /// Returns `true` if other attributes include all of these names and values, byte for byte.
  ///
  /// - Parameter other: The other attributes.
  /// - Returns: `true` if they include all of these.
  package func isContained(in other: [String: String]) -> Bool {
    allSatisfy { name, value in other.value(ofExactly: name)?.hasSameBytes(value) ?? false }
  }

  /// Returns the value of the attribute with exactly this name.
  ///
  /// - Parameter name: The name of the attribute.
  /// - Returns: The value, or `nil` if there is none. A name that looks the same but has other bytes
  ///   doesn't count.
  package func value(ofExactly name: String) -> String? {
    index(forKey: name).flatMap { self[$0].key.hasSameBytes(name) ? self[$0].value : nil }
  }
}
