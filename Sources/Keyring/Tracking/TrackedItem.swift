// SPDX-License-Identifier: Apache-2.0

internal import KeyringStorage
internal import Synchronization

/// An item that someone tracks, in one storage.
final class TrackedItem: Sendable {
  /// The reason why a property uses a storage.
  enum Choice: Sendable { case ofProperty, ofTask, ofProcess }

  private struct State: Sendable {
    var isRead = false
    var writes = 0
    var observation = Observation.none
  }

  private enum Observation: Sendable {
    case none
    case active(StorageSubscription)
    case pending, impossible

    var isActive: Bool { if case .active = self { true } else { false } }
  }

  let key: ItemKey
  let choice: Choice
  let readers = Readers()
  private let number: Int
  /// The storage, unless its properties or its override have ended.
  private weak let box: StorageBox?
  private let type: any SecureStorage.Type
  private let state = Mutex(State())

  init(_ key: ItemKey, in box: StorageBox, _ choice: Choice) {
    (self.key, self.choice, number) = (key, choice, box.number)
    (self.box, type) = (box, Swift.type(of: box.storage))
  }

  func isIn(_ other: StorageBox) -> Bool { number == other.number }

  /// Returns `true` if a write to another storage changes this item.
  ///
  /// An observed storage reports all changes itself. Others are compared by their type.
  func isChanged(byWriteTo other: StorageBox) -> Bool {
    if isIn(other) { return true }
    if type != Swift.type(of: other.storage) || isObserved { return false }
    guard type is AnyClass, let box else { return true }
    return box.storage as AnyObject === other.storage as AnyObject
  }

  // MARK: - Readers

  /// Notes that someone reads the item, and returns the reading to track.
  func read(in context: any ReadingContext) -> Reading {
    state.withLock { $0.isRead = true }
    return readers.reading(in: context)
  }

  /// Notes that this process begins to write the item, whose own change isn't reported a second time.
  func beginWrite() { state.withLock { $0.writes += 1 } }

  /// Notes the end of a write.
  func endWrite() { state.withLock { $0.writes -= 1 } }

  /// Returns `true` if anyone has read the item since this was last asked, and may read it again.
  func takeRead() -> Bool {
    state.withLock { exchange(&$0.isRead, with: false) } || !readers.isEmpty
  }

  // MARK: - Changes by other programs

  /// The shortest and the longest time between two attempts to observe the item.
  private static let leastPause = Duration.seconds(1)
  private static let longestPause = Duration.seconds(60)

  private var isObserved: Bool { state.withLock(\.observation.isActive) }

  /// Observes the item, if its storage can be observed and it isn't observed yet.
  ///
  /// If that fails, it's tried again while there are readers, but never in a read.
  func observe() {
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

  /// Returns the time until the next attempt, or `nil` if there's none because the storage can't be observed.
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
