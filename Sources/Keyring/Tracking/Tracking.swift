// SPDX-License-Identifier: Apache-2.0

internal import KeyringRuntime
internal import KeyringStorage
internal import Observation
internal import Synchronization

/// The registrar of all secure properties, for those who track them with `withObservationTracking`.
final class Tracking: Sendable {
  private static let shared = Tracking()

  // The fields of an object aren't copied for a call, other than global variables.
  private let registrar = ObservationRegistrar()
  private let probe: any KeyPath<TrackedValues, Void> & Sendable = \TrackedValues.[TrackingProbe()]

  /// Whether this thread tracks what it reads.
  ///
  /// The registrar doesn't tell. It looks at a key path only if someone tracks. If another thread does so at the same
  /// moment, this may be `true` by mistake, which costs only time.
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

  /// Notifies those who track a reading that the value has changed.
  static func didChange(_ reading: Reading) {
    let values = TrackedValues()
    let keyPath = \TrackedValues.[reading]
    reading.context.run {
      shared.registrar.willSet(values, keyPath: keyPath)
      shared.registrar.didSet(values, keyPath: keyPath)
    }
  }

  private struct Calls: Sendable {
    var waiting = Queue<@Sendable () -> Void>()
    /// The number of calls that were begun.
    var count = 0
    /// Whether a thread makes the calls.
    var isCalling = false
    /// Whether a task looks for a call that takes long.
    var isWatched = false

    /// Returns the next call, unless another thread has begun one since the last one of this thread.
    mutating func next(after last: Int) -> (@Sendable () -> Void)? {
      if last != count { return nil }
      isCalling = !waiting.isEmpty
      if !isCalling { return nil }
      count += 1
      return waiting.popFirst()
    }
  }

  private let calls = Mutex(Calls())

  /// Runs a closure that notifies readers, on a thread for which no one waits.
  ///
  /// Someone who tracks two values would be notified twice if two threads did so at the same moment. So a second thread
  /// goes on only if a reader takes long.
  static func notify(_ readers: @escaping @Sendable () -> Void) {
    let (count, mustWatch) = shared.calls.withLock { calls -> (Int?, Bool) in
      calls.waiting.append(readers)
      if exchange(&calls.isCalling, with: true) {
        return (nil, !exchange(&calls.isWatched, with: true))
      }
      return (calls.count, false)
    }
    if let count { shared.call(after: count) }
    if mustWatch { Task.detached { await shared.watch() } }
  }

  private func call(after count: Int) {
    BlockingPool.ofApp.run {
      var last = count
      while let call = self.calls.withLock({ $0.next(after: last) }) {
        call()
        last += 1
      }
    }
  }

  /// The time after which those who wait don't wait longer for a reader.
  private static let longestWait = Duration.milliseconds(50)

  /// Lets another thread go on when a call takes long, as long as others wait for it.
  private func watch() async {
    var last: Int?
    while let count = calls.withLock({ calls in
      calls.isWatched = !calls.waiting.isEmpty
      return calls.isWatched ? calls.count : nil
    }) {
      if count == last { call(after: count) }
      last = count
      try? await Task.sleep(for: Self.longestWait)
    }
  }
}
