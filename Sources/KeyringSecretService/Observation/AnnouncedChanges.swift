// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)

/// The changes that programs have announced and are still making.
///
/// Any program may announce any number of them, so only some are kept.
struct AnnouncedChanges {
  /// A change that a program has announced.
  struct Change {
    /// The unique name of the program.
    let sender: String
    let item: ObjectPath
    /// The time at which the change is taken for made, because its program never says so.
    let end: Deadline
  }

  /// The changes in progress, in the order of their ends.
  private(set) var inProgress: [Change] = []
  /// The closures that end the subscriptions to the end of each program that has changed an item.
  private var watched: [String: () -> Void] = [:]
  /// The programs that may have left before the subscription to their end began.
  var newSenders: [String] = []

  /// The maximum numbers of changes in progress, and of programs that are watched.
  private static let most = 1_000

  /// The maximum number of changes that one program is making, which sends fewer at the same time.
  private static let mostOfOne = 100

  /// Adds a change, or returns `false` if there are too many.
  mutating func begin(_ item: ObjectPath, by sender: String, until end: Deadline) -> Bool {
    guard inProgress.count < Self.most,
      inProgress.count(where: { $0.sender == sender }) < Self.mostOfOne
    else { return false }
    inProgress.append(Change(sender: sender, item: item, end: end))
    return true
  }

  /// Subscribes to the end of a program, or returns `false` if that was done before.
  mutating func watch(_ sender: String, by subscribe: () -> (() -> Void)?) -> Bool {
    if watched.count >= Self.most {
      let busy = Set(inProgress.map(\.sender))
      for idle in watched.keys where !busy.contains(idle) { watched.removeValue(forKey: idle)?() }
    }
    if watched[sender] != nil { return false }
    watched[sender] = subscribe()
    newSenders.append(sender)
    return true
  }

  /// Removes a change of a program, if there is one.
  mutating func remove(_ item: ObjectPath, by sender: String) -> Change? {
    inProgress.firstIndex { $0.sender == sender && $0.item == item }.map {
      inProgress.remove(at: $0)
    }
  }

  /// Removes the first change whose program has let its time pass, if any.
  mutating func removeOverdue() -> Change? {
    inProgress.first?.end.remaining == .zero ? inProgress.removeFirst() : nil
  }

  /// Removes the changes of a program, which has left.
  mutating func removeAll(by sender: String) -> [Change] {
    watched.removeValue(forKey: sender)?()
    let changes = inProgress.filter { $0.sender == sender }
    inProgress.removeAll { $0.sender == sender }
    return changes
  }

  /// Removes everything, and returns the programs that were watched.
  mutating func removeAll() -> [String] {
    let senders = Array(watched.keys)
    for unsubscribe in watched.values { unsubscribe() }
    self = AnnouncedChanges()
    return senders
  }
}
#endif
