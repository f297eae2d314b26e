#if SecretService && os(Linux)

/// The items that signals were about and that nobody has looked at yet: one entry for each, however
/// many signals there were.
struct ItemSignals {
  private struct Entry {
    var number: Int
    var isDeleted: Bool
    var isCertain: Bool
  }

  private var entries: [ObjectPath: Entry] = [:]
  /// In the order of the first signal of each.
  private(set) var paths: [ObjectPath] = []
  /// How many signals there have been.
  private(set) var count = 0

  var isEmpty: Bool { paths.isEmpty }

  /// Notes a signal.
  ///
  /// - Parameters:
  ///   - path: The item.
  ///   - isDeleted: Whether it told of the item's end.
  ///   - isCertain: Whether the item has changed even if it looks the same.
  mutating func add(_ path: ObjectPath, isDeleted: Bool, isCertain: Bool) {
    count += 1
    if entries[path] == nil { paths.append(path) }
    let wasCertain = entries[path]?.isCertain == true
    entries[path] = Entry(
      number: count, isDeleted: isDeleted, isCertain: isCertain || wasCertain)
  }

  /// Whether the last signal told of the item's end.
  func isDeleted(_ path: ObjectPath) -> Bool { entries[path]?.isDeleted == true }

  /// Whether the item has changed even if it looks the same.
  func isCertain(_ path: ObjectPath) -> Bool { entries[path]?.isCertain == true }

  /// Whether all signals of the item are among the first so many.
  func isOver(_ path: ObjectPath, after number: Int?) -> Bool {
    guard let number, let entry = entries[path] else { return false }
    return entry.number <= number
  }

  /// Leaves out the signals of an item that was looked at since, for the benefit of that look.
  mutating func move(_ path: ObjectPath, to other: inout ItemSignals) {
    guard let entry = entries[path], !entry.isDeleted else { return }
    if entry.isCertain { other.entries[path]?.isCertain = true }
    entries[path] = nil
    paths.removeAll { $0 == path }
  }

  /// Forgets them; they stay counted.
  mutating func removeAll() { (entries, paths) = ([:], []) }
}
#endif
