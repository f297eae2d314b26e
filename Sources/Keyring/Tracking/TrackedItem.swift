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
    var subscription: StorageSubscription?
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
  func read() -> Reading {
    state.withLock { $0.isRead = true }
    return readers.reading()
  }

  /// Notes that this process begins to write the item, and tells the readers.
  func beginWrite() {
    state.withLock { $0.writes += 1 }
    readers.willChange()
  }

  /// Notes the end of a write, whose own change isn't reported a second time.
  func endWrite() { state.withLock { $0.writes -= 1 } }

  /// Returns `true` if anyone has read the item since this was last asked, and may read it again.
  func takeRead() -> Bool {
    state.withLock { exchange(&$0.isRead, with: false) } || !readers.isEmpty
  }

  // MARK: - Changes by other programs

  private var isObserved: Bool { state.withLock { $0.subscription != nil } }

  /// Observes the item, if its storage can be observed and it isn't observed yet.
  func observe() {
    guard !isObserved, let storage = box?.storage as? any ObservableStorage else { return }
    // An observation can't begin while its thread calls an observer, which may be reading the item.
    if OrderedCalls.isWithinCall {
      Task.detached {
        self.keep(try? await storage.observeWithoutBlocking(.key(self.key), self.observer))
        TrackedItems.didChange(self)
      }
    } else {
      keep(try? storage.observe(.key(key), observer))
    }
  }

  private func keep(_ subscription: StorageSubscription?) {
    // Another reader may have been faster.
    guard let subscription else { return }
    state.withLock { if $0.subscription == nil { $0.subscription = subscription } }
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
    // The readers are told at the end of a write.
    if state.withLock({ $0.writes > 0 }) { return }
    // A reader may need what a storage's observer can't use.
    Task { TrackedItems.didChange(self) }
  }
}
