// SPDX-License-Identifier: Apache-2.0

internal import KeyringStorage

/// A format of files with plaintext values.
protocol PlaintextFormat: Sendable {
  /// Returns the names of all values of a file, in its order.
  func names(in content: Secret) throws(PlaintextFormatError) -> [PlaintextName]

  /// Returns the part of a file at a path, or `nil` if there is none.
  func part(at path: [String], in content: Secret) throws(PlaintextFormatError) -> PlaintextPart?
}

/// A part of a file with a value, or with no value such as `null`, and the range to cut out to remove it.
typealias PlaintextPart = (value: ExternalValue?, range: Range<Int>)
