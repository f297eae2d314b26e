// SPDX-License-Identifier: Apache-2.0

/// A variable in an environment file.
struct EnvironmentLine: Sendable {
  enum Value: Sendable {
    case plain(Range<Int>)
    case quoted(Range<Int>, hasEscapes: Bool)
    /// A value that readers of such files understand in different ways, with the rest of a sentence about it.
    case ambiguous(String)
  }

  let name: String
  let value: Value
  /// The range to cut out: the line or lines, up to a comment after the value.
  let range: Range<Int>
}
