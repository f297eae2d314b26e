// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Writes a line of output immediately.
///
/// It isn't printed, because flushing waits for a thread that waits for input.
package func answer(_ words: [some Any]) {
  let line = words.map { "\($0)" }.joined(separator: " ") + "\n"
  _ = line.withCString { Glibc.write(STDOUT_FILENO, $0, strlen($0)) }
}

/// Returns the time on a clock that all processes share.
package func nanoseconds() -> Int {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return time.tv_sec * 1_000_000_000 + time.tv_nsec
}

package func number(_ text: String?) throws -> Int {
  guard let number = text.flatMap(Int.init) else { throw Failure("there is no number") }
  return number
}

package struct Failure: Error, CustomStringConvertible {
  package let description: String

  package init(_ description: String) { self.description = description }
}
