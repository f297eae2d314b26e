// SPDX-License-Identifier: Apache-2.0

internal import KeyringStorage

/// A part of a file with a value.
struct PlaintextPart: Sendable {
  typealias Value = (kind: PlaintextEntry.Kind, secret: Secret)

  /// The names on the way to the value; empty for a value that has none.
  let path: [String]
  /// The range to cut out to remove the part.
  var range: Range<Int>
  /// The end of the part before it in the same object, or its own start.
  ///
  /// If nothing is left after the part, what separates it from the one before is cut out, too.
  var endOfPrevious: Int?
  /// Whether no part follows in the same object.
  var isLast = false
  /// Whether other parts can be in it.
  var isObject = false
  /// Whether the value is listed itself, and not only the values in it.
  var isListed = true
  /// A closure that returns the value in the content of the file, or `nil` for `null` in JSON.
  var value: @Sendable (Secret) -> Value? = { _ in nil }
}

extension PlaintextEntry {
  init(_ part: PlaintextPart, _ value: PlaintextPart.Value, line: Int) {
    (path, self.line, range) = (part.path, line, part.range)
    (kind, secret) = value
  }

  /// The part of the file that the entry stands for.
  var part: PlaintextPart {
    PlaintextPart(path: path, range: range) { [kind, secret] _ in (kind, secret) }
  }
}
