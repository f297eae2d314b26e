#if SecretService && os(Linux)
internal import FoundationEssentials
internal import KeyringStorage

/// A collection as somebody observes it: what was told, and what is to be told next.
///
/// It belongs to the thread of its ``ChangeReporter``.
final class ObservedCollection {
  let collection: SecretServiceStorage.Collection
  let query: ItemQuery?
  let report: (StorageEvent) -> Void

  /// Where the collection is, if there is one.
  private(set) var path: ObjectPath?
  private var known = KnownItems()
  /// After how many signals each item was last listed.
  private var listed: [ObjectPath: Int] = [:]
  private var isLocked = false
  /// Whether the items were listed while the collection was locked, when KeePassXC hides them.
  private var isIncomplete = false
  private(set) var isInterrupted = false
  /// Whether the collection has to be looked at, because of more than single items.
  var needsReading = false

  init(
    _ collection: SecretServiceStorage.Collection, _ query: ItemQuery?,
    _ report: @escaping (StorageEvent) -> Void
  ) {
    self.collection = collection
    self.query = query
    self.report = report
  }

  // MARK: - Signals

  /// Tells whether an item may be one of the collection's: where that is may not be known yet.
  func mayHave(_ item: ObjectPath) -> Bool { path.map { item.isInside($0) } ?? true }

  /// Something has happened to an item; what, is known once it was looked at.
  func itemMayHaveChanged(_ item: ObjectPath) {
    // Another program's item may be found under several keys.
    let own = known[item].flatMap { $0.isOwn ? $0.key : nil }
    report(.mayHaveChanged(own))
  }

  /// Something has happened to a collection, or to all of them.
  func collectionMayHaveChanged(_ collection: ObjectPath?) {
    if let collection, let path, collection != path { return }
    report(.mayHaveChanged(nil))
    needsReading = true
  }

  func interrupt() {
    needsReading = true
    if isInterrupted { return }
    isInterrupted = true
    report(.interrupted)
  }

  // MARK: - What is there

  /// An item was listed after so many signals.
  func wasListed(_ item: ObjectPath, after number: Int) { listed[item] = number }

  /// Takes over what became of the items that signals were about.
  func update(_ signals: ItemSignals, _ found: [ObjectPath: Variant?]) {
    guard let path else { return }
    var news: [KnownItems.News] = []
    for item in signals.paths where item.isInside(path) {
      let isDeleted = signals.isDeleted(item)
      let answer = found[item].flatMap(\.self)
      // One that was deleted before it was looked at has a signal of that to come.
      if signals.isOver(item, after: listed[item]) || answer == nil && !isDeleted { continue }
      let new = answer.flatMap { knownItem(item, $0) }
      // What nobody has asked for is no news, and need not be kept.
      if new?.key == nil, known[item] == nil { continue }
      news.append((item, new, isCertain: signals.isCertain(item)))
    }
    listed = [:]
    report(known.update(news))
  }

  /// Takes over the collection, read again.
  ///
  /// - Parameters:
  ///   - state: The collection; `nil` when there is none.
  ///   - signals: What nobody has looked at before.
  ///   - isFirst: Whether there is nothing yet to compare it with.
  /// - Returns: Whether that was all: a provider that has just come may not have the collection yet.
  func take(_ state: State?, _ signals: ItemSignals, isFirst: Bool) -> Bool {
    guard let state else {
      if isInterrupted { return false }
      path = nil
      if !isFirst { report(known.replaceAll(by: [:])) }
      return true
    }
    // Other items may have their paths now, and where no names are asked for none are compared.
    if query == nil, isInterrupted || path != state.path { known = KnownItems() }
    path = state.path
    let wasLocked = isLocked
    isLocked = state.isLocked
    if isFirst {
      isIncomplete = state.isLocked
      known = KnownItems(knownItems(state))
    } else if state.isLocked {
      // What cannot be read is not compared.
      if !wasLocked || isInterrupted { report(.locked) }
    } else if let items = state.items {
      let certain = items.keys.filter {
        signals.isOver($0, after: listed[$0]) && signals.isCertain($0)
      }
      report(
        known.replaceAll(
          by: knownItems(items), certain: Set(certain), mayHideSome: isIncomplete))
      isIncomplete = false
    }
    if isInterrupted {
      isInterrupted = false
      report(.resumed)
    }
    return true
  }

  /// A collection as it was found.
  struct State {
    let path: ObjectPath
    let isLocked: Bool
    /// What the provider says of each item; `nil` when they were not asked for.
    var items: [ObjectPath: Variant]?
  }

  /// Whether the items have to be read too, or what is known of them holds.
  func needsItems(_ state: State, isFirst: Bool) -> Bool {
    if query == nil { return false }
    if isFirst { return true }
    return !state.isLocked && (isLocked || isInterrupted || state.path != path)
  }

  private func report(_ changes: [ItemChange]) {
    // Who has asked for no names has no list to compare with either.
    if query == nil { return }
    for change in changes { report(.changed(change)) }
  }

  private func knownItems(_ state: State) -> [ObjectPath: KnownItem] {
    knownItems(state.items ?? [:])
  }

  private func knownItems(_ answers: [ObjectPath: Variant]) -> [ObjectPath: KnownItem] {
    var items: [ObjectPath: KnownItem] = [:]
    for (path, answer) in answers { items[path] = knownItem(path, answer) }
    return items
  }

  /// Reads the answer to a request for an item's properties; `nil` when it is not one to be observed.
  private func knownItem(_ path: ObjectPath, _ answer: Variant) -> KnownItem? {
    guard let stored = StoredItem(path: path, properties: answer) else { return nil }
    let key = key(of: stored)
    if key == nil, !stored.isLocked || ItemKey(itemAttributes: stored.attributes) != nil {
      return nil
    }
    return KnownItem(
      key: key, isOwn: stored.isOwn, isLocked: stored.isLocked, fingerprint: stored.fingerprint)
  }

  private func key(of stored: StoredItem) -> ItemKey? {
    // What a key of another kind would find is there under that key, too.
    if let wanted = query?.key, !stored.isOwn, wanted.kind != .internetPassword,
      wanted.attributes.allSatisfy({ stored.attributes[$0.key]?.isExactly($0.value) == true })
    {
      return wanted
    }
    let key = ItemKey(itemAttributes: stored.attributes)
    guard let query else { return key }
    return key.flatMap { query.matches(SecureItem(key: $0)) ? $0 : nil }
  }
}

extension StoredItem {
  fileprivate var fingerprint: Int {
    let key = ItemKey(kind: ItemKind(rawValue: ""), attributes: [:])
    let item = metadata(key)
    var hasher = Hasher()
    hasher.combine(label)
    hasher.combine(attributes)
    hasher.combine(item.created)
    hasher.combine(item.modified)
    return hasher.finalize()
  }
}
#endif
