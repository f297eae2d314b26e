// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
internal import Foundation
internal import Testing

/// The number of kills at any moment in a test: 10, or the number that `Scripts/stress` sets.
package enum Kills {
  package static let count =
    ProcessInfo.processInfo.environment["KEYRING_TEST_KILLS"].flatMap(Int.init) ?? 10

  /// Returns the number in a line that a writer prints, such as "saved 7".
  package static func number(in line: String) throws -> Int {
    try #require(Int(line.replacing("saved ", with: "")), "the writer said \"\(line)\"")
  }
}
#endif
