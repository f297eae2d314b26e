// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)

/// The items that signals have named and that haven't been read yet.
///
/// Each item has one entry, regardless of the number of its signals.
struct ItemSignals {
  private struct Entry {
    var number: Int
    var isDeleted: Bool
    var isConfirmed: Bool
    var isAnnounced: Bool
  }

  private var entries: [ObjectPath: Entry] = [:]
  /// The paths of the items, in the order of each item's first signal.
  private(set) var paths: [ObjectPath] = []
  /// The number of signals so far.
  private(set) var count = 0

  var isEmpty: Bool { paths.isEmpty }

  /// Adds a signal.
  ///
  /// - Parameters:
  ///   - path: The path of the item.
  ///   - isDeleted: A Boolean value that indicates whether the signal reports the item's deletion.
  ///   - isConfirmed: A Boolean value that indicates whether the item has changed even if it looks the
  ///     same.
  ///   - isAnnounced: A Boolean value that indicates whether another program says that it has changed the
  ///     item.
  mutating func add(
    _ path: ObjectPath, isDeleted: Bool, isConfirmed: Bool, isAnnounced: Bool = false
  ) {
    count += 1
    if entries[path] == nil { paths.append(path) }
    let old = entries[path]
    entries[path] = Entry(
      number: count, isDeleted: isDeleted, isConfirmed: isConfirmed || old?.isConfirmed == true,
      isAnnounced: isAnnounced || old?.isAnnounced == true)
  }

  /// Returns `true` if the last signal of the item reports its deletion.
  func isDeleted(_ path: ObjectPath) -> Bool { entries[path]?.isDeleted == true }

  /// Returns `true` if the item has changed even if it looks the same.
  func isConfirmed(_ path: ObjectPath) -> Bool { entries[path]?.isConfirmed == true }

  /// Returns `true` if a program that isn't the provider says that it has changed the item.
  func isAnnounced(_ path: ObjectPath) -> Bool { entries[path]?.isAnnounced == true }

  /// Returns `true` if the first `number` signals include all signals of the item.
  func isSettled(_ path: ObjectPath, after number: Int?) -> Bool {
    guard let number, let entry = entries[path] else { return false }
    return entry.number <= number
  }

  /// Moves the signals of an item to the signals that are being handled.
  ///
  /// The item was read after these signals, so it needn't be read again. Deletions aren't moved.
  mutating func move(_ path: ObjectPath, to other: inout ItemSignals) {
    guard let entry = entries[path], !entry.isDeleted else { return }
    if entry.isConfirmed { other.entries[path]?.isConfirmed = true }
    if entry.isAnnounced { other.entries[path]?.isAnnounced = true }
    entries[path] = nil
    paths.removeAll { $0 == path }
  }

  /// Removes all items.
  ///
  /// Their signals stay counted.
  mutating func removeAll() { (entries, paths) = ([:], []) }
}
#endif
