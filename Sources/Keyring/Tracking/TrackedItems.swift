// SPDX-License-Identifier: Apache-2.0

internal import KeyringStorage
internal import Synchronization

/// The items of the process that someone tracks.
///
/// An item leaves after a change that is followed by no read.
enum TrackedItems {
  private struct State: Sendable {
    var items: [ItemKey: [TrackedItem]] = [:]
    var count = 0
    var limit = leastLimit
    /// The keys whose readers were last asked to read again.
    var asked: Set<ItemKey> = []
    /// The number of those that were read again.
    var answers = 0

    var all: [TrackedItem] { items.values.flatMap(\.self) }

    mutating func add(_ item: TrackedItem) {
      items[item.key, default: []].append(item)
      count += 1
      if asked.remove(item.key) != nil { answers += 1 }
    }

    mutating func remove(_ item: TrackedItem) {
      guard let index = items[item.key]?.firstIndex(where: { $0 === item }) else { return }
      items[item.key]?.remove(at: index)
      if items[item.key]?.isEmpty == true { items[item.key] = nil }
      count -= 1
    }

    /// Makes room if there are too many items, and returns those that were removed.
    mutating func makeRoom() -> [TrackedItem] {
      if count < limit { return [] }
      let unread = all.filter { $0.readers.isEmpty }
      for item in unread { remove(item) }
      if count < limit / 2 { return unread }
      // If many of the last readers have come back, there are as many readers.
      limit = answers > limit / 4 ? limit * 2 : max(limit / 2, leastLimit)
      defer { (items, count, answers) = ([:], 0, 0) }
      asked = Set(items.keys)
      return unread + all
    }
  }

  /// The number of items up to which no reader is asked to read again.
  static let leastLimit = 1024

  private static let state = Mutex(State())
  /// `true` once anything was tracked.
  ///
  /// Before that, a write costs nothing.
  private static let isUsed = Atomic(false)

  /// The number of items.
  static var count: Int { state.withLock { $0.count } }

  // MARK: - Reading

  /// Notes that someone reads an item, and returns the item and the reading to track.
  ///
  /// Observation can't say that a reader has left. If there are too many items, everyone is notified once, and those
  /// who still read come back.
  static func read(
    _ key: ItemKey, in box: StorageBox, _ choice: TrackedItem.Choice, _ context: any ReadingContext
  ) -> (TrackedItem, Reading) {
    isUsed.store(true, ordering: .relaxed)
    let (item, reading, removed) = state.withLock { state in
      if let item = state.items[key]?.first(where: { $0.isIn(box) }) {
        return (item, item.read(in: context), [TrackedItem]())
      }
      let removed = state.makeRoom()
      let item = TrackedItem(key, in: box, choice)
      state.add(item)
      return (item, item.read(in: context), removed)
    }
    // This thread is in the middle of a reader's closure.
    if !removed.isEmpty { Task.detached { for item in removed { item.readers.didChange() } } }
    return (item, reading)
  }

  // MARK: - Changes by this process

  /// A change of an item by this process, whose readers are notified when it ends.
  struct Change {
    fileprivate let items: [TrackedItem]
    fileprivate let key: ItemKey
    fileprivate let box: StorageBox

    /// Notifies those who track the item, after it has changed or failed to.
    func end() {
      for item in items { item.endWrite() }
      let others = TrackedItems.items(key, changedByWriteTo: box).filter { other in
        !items.contains { $0 === other }
      }
      for item in items + others { TrackedItems.didChange(item) }
    }
  }

  /// Begins a change of an item, and returns the change to end after it.
  ///
  /// - Parameters:
  ///   - key: The key of the item.
  ///   - box: The storage that is written.
  /// - Returns: The change, or `nil` with nothing tracked.
  static func beginChange(
    of key: @autoclosure () -> ItemKey, in box: @autoclosure () -> StorageBox
  ) -> Change? {
    guard isUsed.load(ordering: .relaxed) else { return nil }
    let (key, box) = (key(), box())
    let change = Change(items: items(key, changedByWriteTo: box), key: key, box: box)
    for item in change.items { item.beginWrite() }
    return change
  }

  private static func items(_ key: ItemKey, changedByWriteTo box: StorageBox) -> [TrackedItem] {
    state.withLock { $0.items[key] ?? [] }.filter { $0.isChanged(byWriteTo: box) }
  }

  // MARK: - Changes of any origin

  /// Notifies those who track an item that it has changed, and forgets an item with no reader.
  static func didChange(_ item: TrackedItem) {
    // Look before they're notified, because they may read again at once.
    state.withLock { state in
      if !item.takeRead() { state.remove(item) }
    }
    item.readers.didChange()
  }

  /// Notifies the readers of a storage that their properties now use another one.
  ///
  /// - Parameter isOld: The closure that returns `true` for the items of the former storage.
  static func didChangeStorage(of isOld: (TrackedItem) -> Bool) {
    guard isUsed.load(ordering: .relaxed) else { return }
    for item in state.withLock(\.all) where isOld(item) { item.readers.didChange() }
  }

  /// Notifies the readers of a storage that it's no longer used, and forgets its items.
  ///
  /// - Parameter isOld: The closure that returns `true` for the items of the former storage.
  static func remove(_ isOld: (TrackedItem) -> Bool) {
    guard isUsed.load(ordering: .relaxed) else { return }
    let old = state.withLock { state in
      let old = state.all.filter(isOld)
      for item in old { state.remove(item) }
      return old
    }
    for item in old { item.readers.didChange() }
  }
}
