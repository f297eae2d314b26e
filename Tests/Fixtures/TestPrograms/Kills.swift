#if os(Linux)
internal import Foundation

/// How often a test kills a program at any moment: 20 times, or as often as `Scripts/stress` says.
package enum Kills {
  package static let count =
    ProcessInfo.processInfo.environment["KEYRING_TEST_KILLS"].flatMap(Int.init) ?? 20
}
#endif
