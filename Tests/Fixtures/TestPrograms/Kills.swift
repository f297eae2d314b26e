// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
internal import Foundation

/// The number of kills at any moment in a test: 10, or the number that `Scripts/stress` sets.
package enum Kills {
  package static let count =
    ProcessInfo.processInfo.environment["KEYRING_TEST_KILLS"].flatMap(Int.init) ?? 10
}
#endif
