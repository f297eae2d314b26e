// SPDX-License-Identifier: Apache-2.0

internal import Observation

/// The identity of a value that someone tracks in one context, from a read until the next change.
///
/// The key paths that a registrar keeps hold it. So it's released as soon as no one tracks the value anymore.
final class Reading: Hashable, Sendable {
  let context: any ReadingContext

  init(in context: any ReadingContext) { self.context = context }

  static func == (left: Reading, right: Reading) -> Bool { left === right }

  func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// An object with a property for each reading, because a registrar knows values by their key paths.
struct TrackedValues: Observable, Sendable {
  subscript(reading: Reading) -> Void { () }
  subscript(probe: TrackingProbe) -> Void { () }
}
