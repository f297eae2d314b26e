// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)

/// The items that signals have named, to be read next.
///
/// Each item has one entry, regardless of the number of its signals.
struct ItemSignals {
  /// A set of statements in the signals of an item.
  struct Kinds: OptionSet {
    let rawValue: Int
    /// The last signal says that the item was deleted.
    static let deleted = Kinds(rawValue: 1)
    /// The item has changed even if it looks the same.
    static let confirmed = Kinds(rawValue: 2)
    /// A program other than the provider says that it has changed the item.
    static let announced = Kinds(rawValue: 4)
  }

  private var entries: [ObjectPath: (number: Int, kinds: Kinds)] = [:]
  /// The paths of the items, in the order of each item's first signal.
  private(set) var paths: [ObjectPath] = []
  /// The number of signals so far.
  private(set) var count = 0

  var isEmpty: Bool { paths.isEmpty }

  func contains(_ path: ObjectPath) -> Bool { entries[path] != nil }

  /// The statements in the signals of an item.
  subscript(path: ObjectPath) -> Kinds { entries[path]?.kinds ?? [] }

  /// Adds a signal.
  ///
  /// - Parameters:
  ///   - path: The path of the item.
  ///   - kinds: The statements in the signal.
  mutating func add(_ path: ObjectPath, _ kinds: Kinds) {
    count += 1
    if entries[path] == nil { paths.append(path) }
    set(path, kinds, count)
  }

  private mutating func set(_ path: ObjectPath, _ kinds: Kinds, _ number: Int) {
    // A program may announce a change of a deleted item.
    let kept = kinds == .announced ? self[path] : self[path].subtracting(.deleted)
    entries[path] = (number, kept.union(kinds))
  }

  /// Returns `true` for an item whose signals are all among the first `number` ones.
  func isSettled(_ path: ObjectPath, after number: Int?) -> Bool {
    guard let number, let entry = entries[path] else { return false }
    return entry.number <= number
  }

  /// Moves the signals of an item to the signals that are being handled.
  ///
  /// The item was read after these signals, so one reading is enough. Deletions stay.
  mutating func move(_ path: ObjectPath, to other: inout ItemSignals) {
    guard let entry = entries[path], !entry.kinds.contains(.deleted) else { return }
    if other.contains(path) { other.set(path, entry.kinds, entry.number) }
    entries[path] = nil
    paths.removeAll { $0 == path }
  }

  /// Removes all items.
  ///
  /// Their signals stay counted.
  mutating func removeAll() { (entries, paths) = ([:], []) }
}
#endif
