// SPDX-License-Identifier: Apache-2.0

internal import KeyringStorage
internal import Synchronization

/// An item that someone tracks, in one storage.
final class TrackedItem: Sendable {
  /// The reason why a property uses a storage.
  enum Choice: Sendable { case ofProperty, ofTask, ofProcess }

  struct State: Sendable {
    var isRead = false
    var writes = 0
    var observation = Observation.none
  }

  /// The observation of changes by other programs.
  enum Observation: Sendable {
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
  weak let box: StorageBox?
  private let type: any SecureStorage.Type
  let state = Mutex(State())

  init(_ key: ItemKey, in box: StorageBox, _ choice: Choice) {
    (self.key, self.choice, number) = (key, choice, box.number)
    (self.box, type) = (box, Swift.type(of: box.storage))
  }

  func isIn(_ other: StorageBox) -> Bool { number == other.number }

  private var isObserved: Bool { state.withLock(\.observation.isActive) }

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
}
