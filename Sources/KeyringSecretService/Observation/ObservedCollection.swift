// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
internal import KeyringRuntime
internal import KeyringStorage

/// A collection under observation, with the state that was last reported.
///
/// It belongs to the thread of its ``ChangeMonitor``.
final class ObservedCollection {
  let collection: SecretServiceStorage.Collection
  let query: ItemQuery?
  let report: (StorageEvent) -> Void

  /// The path of the collection, or `nil` for one that is missing.
  private(set) var path: ObjectPath?
  private var known = ItemSnapshot()
  /// The number of signals before each item was last listed.
  private var listed: [ObjectPath: Int] = [:]
  private var isLocked = false
  /// `true` for items that were listed in a locked collection.
  ///
  /// A provider may hide the items of a locked collection.
  private var isIncomplete = false
  private(set) var isInterrupted = false
  /// `true` if there is no earlier state to compare the items with.
  private(set) var wasNeverRead = true
  /// `true` for a collection to be read again as a whole.
  private(set) var needsReading = false
  /// `true` after changes went unnoticed since the last reading began.
  private var missesChanges = false
  /// The items that have changed according to their signals, and are still to be read here.
  ///
  /// A reader may have seen what is lost by now.
  private var unread: Set<ObjectPath> = []
  /// `true` after an item came and went before it was read here.
  private var missesItem = false
  /// `true` for items to be compared, as they may have changed silently.
  private var mustLook = false
  /// `true` after a collection came or went since the items were listed.
  ///
  /// Another collection may have the path of this one now.
  private var mayBeAnother = false
  /// The changes that programs are making, with the programs' unique names, and the keys that were reported.
  private var changing: [(sender: String, item: ObjectPath, key: ItemKey?)] = []

  init(
    _ collection: SecretServiceStorage.Collection, _ query: ItemQuery?,
    _ report: @escaping (StorageEvent) -> Void
  ) {
    self.collection = collection
    self.query = query
    self.report = report
  }

  // MARK: - Signals

  /// Returns `true` for an item that may be in the collection, whose path may still be unknown.
  func mayHave(_ item: ObjectPath) -> Bool { path.map { item.isInside($0) } ?? true }

  /// Reports that an item may have changed.
  ///
  /// The change itself is known once the item is read.
  ///
  /// - Parameters:
  ///   - item: The path of the item.
  ///   - kinds: The statements of the signal.
  func itemMayHaveChanged(_ item: ObjectPath, _ kinds: ItemSignals.Kinds) {
    if query != nil, !kinds.isEmpty, !kinds.contains(.deleted) { unread.insert(item) }
    // Any program may send any number of signals.
    if unread.count > 10_000 {
      (unread, missesItem) = ([], true)
      known.doubt { _, _ in true }
    }
    report(.mayHaveChanged(ownKey(of: item)))
  }

  /// Returns the key of this package's item, or `nil` for an item that any key may find.
  ///
  /// Another program's item may be found under several keys.
  private func ownKey(of item: ObjectPath) -> ItemKey? {
    known[item].flatMap { $0.isOwn ? $0.key : nil }
  }

  /// Reports that a program is about to change an item.
  func changeBegins(_ item: ObjectPath, by sender: String) {
    guard mayHave(item) else { return }
    let key = ownKey(of: item)
    changing.append((sender, item, key))
    report(.changing(key))
  }

  /// Reports that a program has stopped changing an item, or all items for the path `nil`.
  func changeEnds(_ item: ObjectPath?, by sender: String) {
    while let index = changing.firstIndex(where: {
      $0.sender == sender && (item == nil || $0.item == item)
    }) {
      report(.settled(changing.remove(at: index).key))
      if item != nil { break }
    }
  }

  /// Reports that this collection may have changed.
  ///
  /// - Parameters:
  ///   - changed: The path of the collection that a signal has named.
  ///   - isThere: `true` for a collection that was there before, and still is.
  func collectionMayHaveChanged(_ changed: ObjectPath, isThere: Bool) {
    // A collection that comes or goes may be the one that a name stands for.
    if isThere, let path, changed != path { return }
    if !isThere { mayBeAnother = true }
    report(.mayHaveChanged(nil))
    needsReading = true
  }

  /// Makes the items be compared, which may have changed silently.
  func lookAgain() {
    if query == nil || isLocked { return }
    (mustLook, needsReading) = (true, true)
  }

  /// Reports that changes go unnoticed.
  ///
  /// The known items are compared when the collection can be read and is unlocked.
  ///
  /// - Parameter mayLoseSecrets: `true` if items that look the same may have lost their last secrets.
  func interrupt(mayLoseSecrets: Bool = false) {
    let changed = unread.union(changing.map(\.item))
    // A change in the second of the last one shows only by its signal.
    known.doubt { $1.isRecent || mayLoseSecrets || changed.contains($0) }
    (needsReading, missesChanges) = (true, true)
    if isInterrupted { return }
    isInterrupted = true
    KeyringEvent.report(.observationInterrupted(backend: "SecretServiceStorage"))
    report(.interrupted)
  }

  /// Forgets the items, because another keyring has taken the place of the one that they were in.
  ///
  /// They aren't reported as removed: their keyring may come back.
  func startOver() {
    (known, path, wasNeverRead, isIncomplete) = (ItemSnapshot(), nil, true, false)
    (unread, missesItem) = ([], false)
  }

  // MARK: - Contents

  /// Records that the collection is being read.
  ///
  /// A signal or an interruption before the answers leads to another reading.
  func readingBegins() { (needsReading, missesChanges) = (false, false) }

  /// Records that the collection must be read again, after a failure.
  func readingFails() { (needsReading, listed) = (true, [:]) }

  /// Records the number of signals before an item was listed.
  func wasListed(_ item: ObjectPath, after number: Int) { listed[item] = number }

  /// Returns `true` for signals that name an item that is missing.
  func lacks(_ signals: ItemSignals, _ found: [ObjectPath: StoredItem]) -> Bool {
    signals.paths.contains { mayHave($0) && found[$0] == nil }
  }

  /// Returns `true` for signals of a deletion whose item is still there.
  ///
  /// The request for the item may have been sent too early.
  func contradicts(_ signals: ItemSignals, _ found: [ObjectPath: StoredItem]) -> Bool {
    signals.paths.contains { mayHave($0) && signals[$0].contains(.deleted) && found[$0] != nil }
  }

  /// Reports that the collection hides its items, which is seen before the provider reports the lock.
  ///
  /// They're compared after the unlock.
  func hideItems() {
    needsReading = true
    if isLocked { return }
    isLocked = true
    report(.locked)
  }

  /// Updates the items that signals have named.
  ///
  /// - Parameters:
  ///   - signals: The signals.
  ///   - found: The items that were read after them.
  ///   - later: The signals that have arrived since.
  func update(
    _ signals: ItemSignals, _ found: [ObjectPath: StoredItem], before later: ItemSignals
  ) {
    guard let path else { return }
    var updates: [ItemSnapshot.Update] = []
    for item in signals.paths where item.isInside(path) {
      let isDeleted = signals[item].contains(.deleted)
      let stored = found[item]
      if stored == nil, isDeleted, unread.contains(item) { lose([item]) }
      if stored != nil || isDeleted, !later.contains(item) { unread.remove(item) }
      // If an item was deleted before it was read, the signal of the deletion is still to come.
      if signals.isSettled(item, after: listed[item]) || stored == nil && !isDeleted { continue }
      if let stored, isHidden(stored) { continue }
      let new = stored.flatMap(knownItem)
      // An unknown item that the observer hasn't asked for is no change and needn't be kept.
      if new?.key == nil, known[item] == nil { continue }
      updates.append((item, new, isConfirmed: isConfirmed(item, by: signals)))
    }
    listed = [:]
    report(known.update(updates))
  }

  /// Updates the collection after it was read again.
  ///
  /// - Parameters:
  ///   - state: The state of the collection, or `nil` for a missing one.
  ///   - signals: The signals whose items haven't been read yet.
  /// - Returns: `true` for a complete update, or `false` for a collection to be read again. A
  ///   provider that has just started may not have the collection yet.
  func take(_ state: State?, _ signals: ItemSignals) -> Bool {
    if state == nil, isInterrupted { return false }
    let isFirst = exchange(&wasNeverRead, with: false)
    if let path, path != state?.path {
      let gone = unread.filter { $0.isInside(path) }
      unread.subtract(gone)
      lose(gone)
    }
    guard let state else {
      path = nil
      if !isFirst { report(known.replaceAll(by: [:])) }
      return true
    }
    // Other items may have the known paths now. Without a query, items aren't compared.
    if query == nil, mustCompare(state) { known = ItemSnapshot() }
    path = state.path
    // A signal that arrived after the request for the state leads to another reading.
    mayBeAnother = mayBeAnother && needsReading
    let wasLocked = isLocked
    (isLocked, mustLook) = (state.isLocked, false)
    if isFirst {
      (isIncomplete, missesItem) = (state.isLocked, false)
      unread.formIntersection(signals.paths)
      known = ItemSnapshot((state.items ?? [:]).compactMapValues(knownItem))
    } else if state.isLocked {
      // Items that can't be read aren't compared, whatever was listed.
      listed = [:]
      if !wasLocked || isInterrupted { report(.locked) }
    } else if let items = state.items {
      let confirmed = items.keys.filter {
        signals.isSettled($0, after: listed[$0]) && isConfirmed($0, by: signals)
      }
      var found = items.compactMapValues(knownItem)
      for (path, item) in items where isHidden(item) { found[path] = known[path] }
      // The signals of the others were dropped.
      let dropped = unread.subtracting(signals.paths)
      unread.subtract(dropped)
      known.doubt { path, _ in dropped.contains(path) }
      lose(dropped.filter { mayHave($0) && items[$0] == nil })
      let mayHideSome = exchange(&isIncomplete, with: false)
      report(
        known.replaceAll(by: found, confirmed: Set(confirmed), mayHideSome: mayHideSome))
    }
    if missesChanges {
      known.doubt { $1.isRecent }
    } else if isInterrupted {
      isInterrupted = false
      KeyringEvent.report(.observationResumed(backend: "SecretServiceStorage"))
      report(.resumed)
    }
    return true
  }

  /// Records that items were deleted that a reader may have seen.
  ///
  /// Nobody knows the keys of those that were never read here.
  private func lose(_ items: Set<ObjectPath>) {
    if items.contains(where: { known[$0] == nil }) { missesItem = true }
  }

  /// The state of a collection.
  struct State {
    let path: ObjectPath
    let isLocked: Bool
    /// The items, or `nil` without a request for them.
    var items: [ObjectPath: StoredItem]?
  }

  /// Returns `true` for a state with which the known items may be out of date, and must be read.
  func needsItems(_ state: State) -> Bool {
    if query == nil { return false }
    if wasNeverRead { return true }
    return !state.isLocked && (isLocked || mustLook || mustCompare(state))
  }

  /// Returns `true` for known items that may be those of another collection, or of another time.
  private func mustCompare(_ state: State) -> Bool {
    isInterrupted || mayBeAnother || state.path != path
  }

  /// Returns `true` for a known item that must be unlocked to be compared.
  ///
  /// Its attributes are hidden, and with them its changes. Or it's doubtful, and its secret is unreadable. A
  /// locked item of an unlocked collection can be: it's unlocked when it's read.
  private func isHidden(_ stored: StoredItem) -> Bool {
    guard let known = known[stored.path] else { return false }
    return stored.hidesAttributes || isLocked && stored.isLocked && known.fingerprint == nil
  }

  /// Returns `true` for an item that has certainly changed, and may look the same.
  ///
  /// Any program may send the signal for a change that the provider makes silently.
  private func isConfirmed(_ item: ObjectPath, by signals: ItemSignals) -> Bool {
    signals[item].contains(.confirmed)
      || signals[item].contains(.announced) && known[item]?.isRecent != false
  }

  private func report(_ changes: [ItemChange]) {
    // Without a query, there is no list of items to compare with.
    guard let query else { return }
    var changes = changes
    // Only a query for one item tells which one may have come and gone. It's read once the rest is known.
    let isWhole = !isLocked && !isIncomplete && !missesChanges
    if isWhole, exchange(&missesItem, with: false), let key = query.key,
      !changes.contains(where: { $0.key == key })
    {
      changes += known.contains(key) ? [.replaced(key)] : [.created(key), .removed(key)]
    }
    for change in changes { report(.changed(change)) }
  }

  /// Returns the state of an item, or `nil` for one that nobody observes.
  private func knownItem(_ stored: StoredItem) -> KnownItem? {
    let key = key(of: stored)
    if key == nil, !stored.hidesAttributes { return nil }
    return KnownItem(
      key: key, isOwn: stored.isOwn, isLocked: stored.isLocked, fingerprint: stored.fingerprint,
      isRecent: stored.wasModified(within: .seconds(2)))
  }

  private func key(of stored: StoredItem) -> ItemKey? {
    // It may be on its way out, and no key finds it.
    guard stored.showsAttributes else { return nil }
    // Another program's item that a key finds has that key, too, even if its own key is of another kind.
    if let wanted = query?.key, stored.isShared(under: wanted) { return wanted }
    guard let query else { return stored.key }
    return stored.key.flatMap {
      query.matches(stored.item($0, secret: nil, details: [])) ? $0 : nil
    }
  }
}

extension StoredItem {
  fileprivate var fingerprint: Int {
    var hasher = Hasher()
    hasher.combine(label)
    hasher.combine(attributes)
    hasher.combine(created)
    hasher.combine(modified)
    return hasher.finalize()
  }
}
#endif
