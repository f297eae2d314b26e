import Glibc

/// What a contender does again and again.
protocol Work {
  /// How many uses of the library one operation is made of; the time is that of one use.
  var usesPerOperation: Int { get }

  /// Does what has to be done before each operation, not timed.
  mutating func prepare() throws

  /// The operation, timed.
  mutating func perform() throws

  /// Throws when the operation did not do what it was to do: that is an error, and not a time.
  mutating func check() throws
}

extension Work {
  var usesPerOperation: Int { 1 }
  func prepare() {}
}

/// Performs a work several times.
///
/// - Returns: How many nanoseconds each took.
func measure(_ work: inout any Work, times: Int) throws -> [Double] {
  try (0..<times).map { _ in
    try work.prepare()
    let start = nanoseconds()
    try work.perform()
    let end = nanoseconds()
    try work.check()
    return Double(end - start) / Double(work.usesPerOperation)
  }
}

/// Writes the answer at once: a buffer would keep it from the driver.
func answer(_ times: [Double]) {
  print(times.map { "\($0)" }.joined(separator: " "))
  fflush(nil)
}

private func nanoseconds() -> Int {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return time.tv_sec * 1_000_000_000 + time.tv_nsec
}

struct Failure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
