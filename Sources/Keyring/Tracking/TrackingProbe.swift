// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// A part of a key path that counts how often a registrar looks at it.
final class TrackingProbe: Hashable, Sendable {
  static let looks = Atomic(0)

  static func == (left: TrackingProbe, right: TrackingProbe) -> Bool { true }

  func hash(into hasher: inout Hasher) { Self.looks.add(1, ordering: .relaxed) }
}
