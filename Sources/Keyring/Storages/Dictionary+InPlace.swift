// SPDX-License-Identifier: Apache-2.0

extension Dictionary {
  /// Calls a closure with a value in place.
  ///
  /// A copy of a value with many parts would take longer than finding it.
  ///
  /// - Parameters:
  ///   - key: The key of the value.
  ///   - body: The closure to call with the value.
  /// - Returns: The result of the closure, or `nil` for a missing value.
  mutating func withValue<Result>(for key: Key, _ body: (inout Value) -> Result) -> Result? {
    index(forKey: key).map { body(&values[$0]) }
  }
}
