// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Those who track one value, each from a read until the next change.
///
/// No lock is held while they're notified.
final class Readers: Sendable {
  private struct Current: Sendable { weak var reading: Reading? }

  private struct State: Sendable {
    /// The readings that someone may track, one for each context.
    var current: [Current] = []

    var isEmpty: Bool { current.allSatisfy { $0.reading == nil } }

    mutating func takeCurrent() -> [Reading] { exchange(&current, with: []).compactMap(\.reading) }
  }

  private let state = Mutex(State())

  /// Whether no one tracks the value.
  var isEmpty: Bool { state.withLock(\.isEmpty) }

  /// Returns the reading to pass to ``Tracking/track(_:)``, which keeps it while someone tracks it.
  func reading(in context: any ReadingContext) -> Reading {
    state.withLock { state in
      state.current.removeAll { $0.reading == nil }
      for case let reading? in state.current.lazy.map(\.reading) where reading.context === context {
        return reading
      }
      let reading = Reading(in: context)
      state.current.append(Current(reading: reading))
      return reading
    }
  }

  /// Notifies the readers that the value has changed, also those who have read it since it began to change.
  ///
  /// No one waits for them.
  func didChange() {
    if isEmpty { return }
    Tracking.notify { [self] in
      var readings = state.withLock { $0.takeCurrent() }
      for index in readings.indices {
        Tracking.didChange(readings[index])
        if !isKnownUniquelyReferenced(&readings[index]) { Self.repeatChange(of: readings[index]) }
      }
    }
  }

  /// Notifies those who read the value before it changed, but whose tracking begins only now.
  ///
  /// A tracking begins when its closure returns. Until then, nothing can notify it of a change. A closure has four
  /// minutes for it, because it may wait for the user.
  private static func repeatChange(of reading: Reading) {
    Task { [weak reading] in
      for exponent in 0..<18 {
        try? await Task.sleep(for: .milliseconds(1 << exponent))
        guard let reading else { return }
        Tracking.notify { Tracking.didChange(reading) }
      }
    }
  }
}
