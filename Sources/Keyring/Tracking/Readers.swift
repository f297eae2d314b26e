// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Those who track one value, each from a read until the next change.
///
/// No lock is held while they're told.
final class Readers: Sendable {
  private struct State: Sendable {
    weak var reading: Reading?
    /// The readings whose readers were told that the value changes, but not yet that it has.
    var told: [Reading] = []
  }

  private let state = Mutex(State())

  /// Indicates whether no one tracks the value.
  var isEmpty: Bool { state.withLock { $0.reading == nil } }

  /// Returns the reading to pass to ``Tracking/track(_:)``, which keeps it while someone tracks it.
  func reading() -> Reading {
    state.withLock { state in
      if let reading = state.reading { return reading }
      let reading = Reading()
      state.reading = reading
      return reading
    }
  }

  /// Tells the readers that the value changes.
  func willChange() {
    if isEmpty { return }
    Tracking.tell { [self] in
      let reading = state.withLock { state in
        let reading = exchange(&state.reading, with: nil)
        if let reading { state.told.append(reading) }
        return reading
      }
      if let reading { Tracking.willChange(reading) }
    }
  }

  /// Tells the readers that the value has changed, also those who have read it since it began to change.
  func didChange() {
    if state.withLock({ $0.reading == nil && $0.told.isEmpty }) { return }
    Tracking.tell { [self] in
      var readings = state.withLock { state in
        exchange(&state.told, with: []) + [exchange(&state.reading, with: nil)].compactMap(\.self)
      }
      for index in readings.indices {
        Tracking.didChange(readings[index])
        if !isKnownUniquelyReferenced(&readings[index]) { Self.repeatChange(of: readings[index]) }
      }
    }
  }

  /// Tells those who read the value before it changed, but whose tracking begins only now.
  ///
  /// A tracking begins when its closure returns. Until then, nothing can tell it of a change.
  private static func repeatChange(of reading: Reading) {
    Task { [weak reading] in
      for exponent in 0..<13 {
        try? await Task.sleep(for: .milliseconds(1 << exponent))
        guard let reading else { return }
        Tracking.tell { Tracking.didChange(reading) }
      }
    }
  }
}
