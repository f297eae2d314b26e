extension Dictionary {
  /// Looks at a value where it is: to copy one of many parts takes longer than to find it.
  ///
  /// - Parameters:
  ///   - key: The key of the value.
  ///   - body: Called with the value.
  /// - Returns: What the closure returned; `nil` when there is no such value.
  mutating func withValue<Result>(for key: Key, _ body: (inout Value) -> Result) -> Result? {
    index(forKey: key).map { body(&values[$0]) }
  }
}
