// SPDX-License-Identifier: Apache-2.0

import Contending
import Glibc

/// An operation that a contender repeats.
protocol Work {
  /// The number of uses of the library in one operation. The time is that of one use.
  var usesPerOperation: Int { get }

  /// Prepares each operation. This isn't timed.
  mutating func prepare() throws

  /// Performs the operation. This is timed.
  mutating func perform() throws

  /// Throws an error if the operation didn't do what it should. The contender then ends without a time.
  mutating func check() throws
}

extension Work {
  var usesPerOperation: Int { 1 }
  func prepare() {}
}

/// Performs a work several times.
///
/// - Returns: The nanoseconds that each operation took.
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

/// Performs a work several times between two marks, which the driver finds in a profile or a trace.
func performBetweenMarks(_ work: inout any Work, times: Int) throws {
  mark()
  for _ in 0..<times {
    try work.prepare()
    try work.perform()
  }
  mark()
  try work.check()
  answer([String]())
}

// Nothing else in a contender calls this function.
private func mark() { _ = getppid() }
