// SPDX-License-Identifier: Apache-2.0

import Glibc

/// An operation that a contender repeats.
package protocol Work {
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
  package var usesPerOperation: Int { 1 }
  package func prepare() {}
}

/// Performs a work as often as each line of input says, and answers with the nanoseconds of each operation.
///
/// If it counts, it answers with an empty line, and a mark stands before and after the operations. The driver finds the
/// marks in a profile or a trace.
package func contend(_ work: any Work, counts: Bool = false) throws {
  var work = work
  while let line = readLine() {
    let times = try number(line)
    if counts {
      mark()
      for _ in 0..<times {
        try work.prepare()
        try work.perform()
      }
      mark()
      try work.check()
      answer([String]())
    } else {
      var results: [Double] = []
      for _ in 0..<times {
        try work.prepare()
        let start = nanoseconds()
        try work.perform()
        let end = nanoseconds()
        try work.check()
        results.append(Double(end - start) / Double(work.usesPerOperation))
      }
      answer(results)
    }
  }
}

// Nothing else in a contender calls this function.
private func mark() { _ = getppid() }
