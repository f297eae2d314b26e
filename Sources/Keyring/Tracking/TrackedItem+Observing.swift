// SPDX-License-Identifier: Apache-2.0

internal import KeyringStorage
internal import Synchronization

extension TrackedItem {
  /// Registers this read of an item with Observation, and observes the item for changes by other programs.
  ///
  /// Begin to track an item before you read it.
  ///
  /// - Parameters:
  ///   - key: The key of the item.
  ///   - box: The storage that is read.
  ///   - choice: The reason why it's this storage.
  ///   - context: The context in which to notify the reader.
  static func track(
    _ key: ItemKey, in box: StorageBox, _ choice: Choice, context: any ReadingContext
  ) {
    let (item, reading) = TrackedItems.read(key, in: box, choice, context)
    Tracking.track(reading)
    item.observe()
  }

  /// The shortest and the longest time between two attempts to observe the item.
  private static let leastPause = Duration.seconds(1)
  private static let longestPause = Duration.seconds(60)

  /// Observes the item, if its storage can be observed and it isn't observed yet.
  ///
  /// If that fails, it's tried again while there are readers, but never in a read.
  private func observe() {
    guard state.withLock({ if case .none = $0.observation { true } else { false } }),
      let storage = box?.storage as? any ObservableStorage
    else { return }
    let start = ContinuousClock.now
    do {
      keep(try storage.observeForLibrary(.key(key), observer))
    } catch {
      if let pause = pause(after: error, since: start) { observeLater(after: pause) }
    }
  }

  /// Observes the item after a pause, without a thread, and then notifies the readers.
  private func observeLater(after pause: Duration) {
    let isFirst = state.withLock { state in
      guard case .none = state.observation else { return false }
      state.observation = .pending
      return true
    }
    guard isFirst else { return }
    Task.detached { [self] in
      var pause = pause
      while true {
        try? await Task.sleep(for: pause)
        guard isPending(), let storage = box?.storage as? any ObservableStorage else { return }
        let start = ContinuousClock.now
        do throws(SecureStorageError) {
          keep(try await storage.observeForLibraryWithoutBlocking(.key(key), observer))
          return TrackedItems.didChange(self)
        } catch {
          guard let next = self.pause(after: error, since: start) else { return }
          pause = min(max(next, pause * 2), Self.longestPause)
        }
      }
    }
  }

  /// Returns `true` if another attempt is due, and leaves it to the next reader if there's no one now.
  private func isPending() -> Bool {
    state.withLock { state in
      guard case .pending = state.observation else { return false }
      if !readers.isEmpty { return true }
      state.observation = .none
      return false
    }
  }

  /// Returns the time before the next attempt, or `nil` for a storage that can't be observed.
  private func pause(
    after error: SecureStorageError, since start: ContinuousClock.Instant
  ) -> Duration? {
    if error.code != .notObservable {
      return min(max((ContinuousClock.now - start) * 5, Self.leastPause), Self.longestPause)
    }
    state.withLock { if !$0.observation.isActive { $0.observation = .impossible } }
    return nil
  }

  private func keep(_ subscription: StorageSubscription) {
    // Another reader may have been faster.
    state.withLock { if !$0.observation.isActive { $0.observation = .active(subscription) } }
  }

  private var observer: @Sendable (StorageEvent) -> Void {
    { [weak self] event in self?.receive(event) }
  }

  private func receive(_ event: StorageEvent) {
    switch event {
    case .changed(let change) where change.key == key: break
    case .locked, .resumed: break
    default: return
    }
    // The readers are notified at the end of a write.
    if state.withLock({ $0.writes > 0 }) { return }
    // A reader may need what a storage's observer can't use.
    Task { TrackedItems.didChange(self) }
  }
}
