// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A generator that makes the same random numbers from the same seed: SplitMix64.
package struct SeededGenerator: RandomNumberGenerator {
  /// The seed, which is different in each run of the tests unless `KEYRING_TEST_SEED` sets it.
  package static let seed =
    ProcessInfo.processInfo.environment["KEYRING_TEST_SEED"].flatMap { UInt64($0) }
    ?? UInt64.random(in: 0...UInt64.max)

  private var state: UInt64

  package init(seed: UInt64) { state = seed }

  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var bits = state
    bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
    bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
    return bits ^ (bits >> 31)
  }

  /// Returns `true` in one of this many calls, on average.
  package mutating func oneIn(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &self) == 0 }

  package mutating func pick<Element>(_ elements: [Element]) -> Element {
    elements[Int.random(in: elements.indices, using: &self)]
  }
}
