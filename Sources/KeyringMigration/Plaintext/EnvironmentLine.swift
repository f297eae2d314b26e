// SPDX-License-Identifier: Apache-2.0

/// A variable in an environment file.
struct EnvironmentLine {
  enum Value {
    case literal(Range<Int>)
    case escaped(Range<Int>)
    case malformed
  }

  let name: String
  let value: Value
  /// The range to cut out: the line or lines, up to a comment after the value.
  let range: Range<Int>
}
