// SPDX-License-Identifier: Apache-2.0

internal import Observation
internal import Synchronization

/// The registrar of all secure properties, for those who track them with `withObservationTracking`.
final class Tracking: Sendable {
  private static let shared = Tracking()

  // The fields of an object aren't copied for a call, other than global variables.
  private let registrar = ObservationRegistrar()
  private let probe: any KeyPath<TrackedValues, Void> & Sendable = \TrackedValues.[TrackingProbe()]

  /// Indicates whether this thread tracks what it reads.
  ///
  /// The registrar doesn't tell. It looks at a key path only if someone tracks. If another thread does so at the
  /// same moment, this may be `true` by mistake, which costs only time.
  static var isCurrent: Bool {
    let looks = TrackingProbe.looks.load(ordering: .relaxed)
    let tracking = shared
    tracking.registrar.access(TrackedValues(), keyPath: tracking.probe)
    return TrackingProbe.looks.load(ordering: .relaxed) != looks
  }

  /// Adds a reading to what this thread tracks.
  static func track(_ reading: Reading) {
    shared.registrar.access(TrackedValues(), keyPath: \TrackedValues.[reading])
  }

  // MARK: - Telling the readers

  /// Tells those who track a reading that the value changes.
  static func willChange(_ reading: Reading) {
    reading.context.run {
      shared.registrar.willSet(TrackedValues(), keyPath: \TrackedValues.[reading])
    }
  }

  /// Tells those who track a reading that the value has changed.
  ///
  /// Those who have read it since it began to change may have the old value, so they're told in any case.
  static func didChange(_ reading: Reading) {
    let values = TrackedValues()
    let keyPath = \TrackedValues.[reading]
    reading.context.run {
      shared.registrar.willSet(values, keyPath: keyPath)
      shared.registrar.didSet(values, keyPath: keyPath)
    }
  }

  private struct Calls: Sendable {
    var waiting: [@Sendable () -> Void] = []
    var isCalling = false

    /// Returns the next call, and keeps in mind whether there is one.
    mutating func next() -> (@Sendable () -> Void)? {
      isCalling = !waiting.isEmpty
      return isCalling ? waiting.removeFirst() : nil
    }
  }

  private let calls = Mutex(Calls())

  /// Runs a closure that tells readers, or leaves it to the thread that's telling others now.
  ///
  /// Someone who tracks two values would otherwise be told twice if both change at the same moment. No one waits, and
  /// no lock is held.
  static func tell(_ readers: @escaping @Sendable () -> Void) {
    let tracking = shared
    var call = tracking.calls.withLock { calls in
      calls.waiting.append(readers)
      return calls.isCalling ? nil : calls.next()
    }
    while let current = call {
      current()
      call = tracking.calls.withLock { $0.next() }
    }
  }
}
