// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import KeyringRuntime
import KeyringStorage
import Testing

@testable import KeyringSecretService

/// A collection under observation, without a keyring.
final class ObservedCollectionTests {
  private let path = ObjectPath("/org/freedesktop/secrets/collection/login")
  private let keys = (0..<2).map { ItemKey.password(service: "service", account: "\($0)") }
  private var events: [StorageEvent] = []
  private lazy var observed = collection(.service("service"))

  private func collection(_ query: ItemQuery) -> ObservedCollection {
    ObservedCollection(.default, query) { [unowned self] in events.append($0) }
  }

  /// Signals of an item, which arrive before anything is read.
  private func signals(
    _ kinds: ItemSignals.Kinds..., of number: Int = 0
  ) throws -> ItemSignals {
    let path = try item(number).path
    var signals = ItemSignals()
    for kinds in kinds {
      observed.itemMayHaveChanged(path, kinds)
      signals.add(path, kinds)
    }
    return signals
  }

  private func update(_ signals: ItemSignals, _ found: [ObjectPath: StoredItem]) {
    observed.update(signals, found, before: ItemSignals())
  }

  /// The events that say what has changed.
  private var news: [StorageEvent] {
    events.filter { if case .mayHaveChanged = $0 { false } else { true } }
  }

  /// An item as the provider answers, which was last changed long ago.
  private func item(_ number: Int, isLocked: Bool = false) throws -> StoredItem {
    let answer: Variant = .tuple([
      .properties([
        "Attributes": .strings(keys[number].newAttributes), "Locked": .boolean(isLocked),
      ])
    ])
    return try #require(
      StoredItem(
        path: ObjectPath("\(path.text)/\(number)"), answer: answer,
        from: KeyringSecretService.Provider(":1.1", owners: [])))
  }

  /// Reads the collection.
  ///
  /// - Parameters:
  ///   - numbers: The numbers of its items, or `nil` if it's locked.
  ///   - locked: `true` if its items are locked by themselves.
  ///   - meanwhile: A closure that is called before the answers arrive.
  /// - Throws: An error if an item can't be made.
  private func read(
    _ numbers: [Int]?, locked: Bool = false, meanwhile: () -> Void = {}
  ) throws {
    observed.readingBegins()
    meanwhile()
    let items = try numbers?.map { try item($0, isLocked: locked) }
    let state = ObservedCollection.State(
      path: path, isLocked: items == nil,
      items: items.map { Dictionary(uniqueKeysWithValues: $0.map { ($0.path, $0) }) })
    let isComplete = observed.take(state, ItemSignals())
    #expect(isComplete)
  }

  @Test func `an interruption while the items are listed leads to another reading`() throws {
    try read([0])
    observed.interrupt()
    try read([0]) { observed.interrupt() }
    #expect(observed.needsReading)
    #expect(observed.needsItems(.init(path: path, isLocked: false)))
    #expect(events == [.interrupted])
    try read([0, 1])
    #expect(!observed.needsReading)
    #expect(events == [.interrupted, .changed(.created(keys[1])), .resumed])
  }

  @Test func `a doubtful item is compared once it can be read`() throws {
    try read([0])
    observed.interrupt(mayLoseSecrets: true)
    try read(nil)
    #expect(events == [.interrupted, .locked, .resumed])
    update(try signals([]), [try item(0).path: try item(0, isLocked: true)])
    #expect(news.count == 3)
    try read([0])
    #expect(news.dropFirst(3) == [.changed(.replaced(keys[0]))])
    try read([0])
    #expect(news.count == 4)
  }

  @Test func `a change that nobody has read before an interruption may be lost`() throws {
    try read([0])
    _ = try signals(.confirmed)
    observed.interrupt()
    try read([0])
    #expect(news == [.interrupted, .changed(.replaced(keys[0])), .resumed])
  }

  @Test func `a change while its item is read after a listing is reported`() throws {
    try read([0])
    let item = try item(0)
    observed.wasListed(item.path, after: 1)
    var handled = try signals(.confirmed)
    var later = handled
    later.removeAll()
    later.add(item.path, .confirmed)
    later.move(item.path, to: &handled)
    #expect(later.isEmpty)
    update(handled, [item.path: item])
    #expect(news == [.changed(.replaced(keys[0]))])
  }

  @Test(arguments: [false, true])
  func `a change before a listing that fails or finds a lock is reported`(fails: Bool) throws {
    try read([0])
    let item = try item(0)
    let signals = try signals(.confirmed)
    observed.wasListed(item.path, after: 1)
    if fails { observed.readingFails() } else { try read(nil) }
    update(signals, [item.path: item])
    #expect(news == (fails ? [] : [.locked]) + [.changed(.replaced(keys[0]))])
  }

  @Test func `a creation while an item is looked for ends its deletion`() throws {
    let path = try item(0).path
    var handled = ItemSignals()
    handled.add(path, [.deleted, .confirmed])
    for kinds in [ItemSignals.Kinds.announced, .confirmed] {
      var later = ItemSignals()
      later.add(path, kinds)
      later.move(path, to: &handled)
      #expect(handled[path].contains(.deleted) == (kinds == .announced))
    }
  }

  @Test func `a change after its item was read may be lost with an interruption`() throws {
    try read([0])
    let item = try item(0)
    let handled = try signals(.confirmed)
    observed.update(handled, [item.path: item], before: try signals(.confirmed))
    observed.interrupt()
    try read([0])
    #expect(
      news == [.changed(.replaced(keys[0])), .interrupted, .changed(.replaced(keys[0])), .resumed])
  }

  @Test func `a change that a program began before an interruption may be lost`() throws {
    try read([0])
    observed.changeBegins(try item(0).path, by: ":1.1")
    observed.interrupt()
    observed.changeEnds(nil, by: ":1.1")
    try read([0])
    #expect(events.dropFirst(3) == [.changed(.replaced(keys[0])), .resumed])
  }

  @Test func `an item that comes and goes before it's read is reported`() throws {
    observed = collection(.key(keys[0]))
    try read([])
    let changes: [StorageEvent] = [.changed(.created(keys[0])), .changed(.removed(keys[0]))]
    update(try signals(.confirmed, [.deleted, .confirmed]), [:])
    #expect(news == changes)
    // It goes while it's read, and the signal of its end follows.
    update(try signals(.confirmed), [:])
    #expect(news == changes)
    update(try signals([.deleted, .confirmed]), [:])
    #expect(news == changes + changes)
    // It goes while all items are listed, which finds its path.
    observed.wasListed(try item(0).path, after: 2)
    update(try signals(.confirmed, [.deleted, .confirmed]), [:])
    #expect(news == changes + changes + changes)
  }

  @Test func `another item that goes is no change`() throws {
    observed = collection(.key(keys[0]))
    try read([])
    update(try signals([.deleted, .confirmed], of: 1), [:])
    update(try signals(.confirmed, of: 1), [try item(1).path: try item(1)])
    update(try signals([.deleted, .confirmed], of: 1), [:])
    #expect(news == [])
  }

  @Test(arguments: [[], [0]])
  func `an item that comes before an interruption and goes with it is reported`(
    others: [Int]
  ) throws {
    observed = collection(.key(keys[0]))
    try read(others)
    _ = try signals(.confirmed, of: 1)
    observed.interrupt()
    try read(nil)
    #expect(news == [.interrupted, .locked, .resumed])
    try read(others)
    let changes: [ItemChange] =
      others.isEmpty ? [.created(keys[0]), .removed(keys[0])] : [.replaced(keys[0])]
    #expect(news.dropFirst(3) == changes.map { .changed($0) }[...])
    try read(others)
    #expect(news.count == 3 + changes.count)
  }

  @Test func `an item that comes and goes before the first unlock is reported after it`() throws {
    observed = collection(.key(keys[0]))
    try read(nil)
    update(try signals(.confirmed, [.deleted, .confirmed], of: 1), [:])
    #expect(news == [])
    try read([0])
    #expect(news == [.changed(.replaced(keys[0]))])
  }

  @Test func `an item that goes with its collection before it's read is reported`() throws {
    observed = collection(.key(keys[0]))
    try read([])
    _ = try signals(.confirmed)
    #expect(observed.take(nil, ItemSignals()))
    #expect(news == [.changed(.created(keys[0])), .changed(.removed(keys[0]))])
  }

  @Test func `an announced change doesn't hide that the item is gone`() throws {
    try read([0])
    update(try signals([.deleted, .confirmed], .announced), [:])
    #expect(news == [.changed(.removed(keys[0]))])
  }

  /// KeePassXC locks the items of an unlocked database for each program that hasn't asked for them.
  @Test func `a doubtful item that is locked by itself is reported`() throws {
    try read([0])
    observed.interrupt(mayLoseSecrets: true)
    try read([0], locked: true)
    #expect(news == [.interrupted, .changed(.replaced(keys[0])), .resumed])
  }

  /// KeePassXC reports each item as deleted when it locks a database.
  @Test func `a lock that hides items changes none of them`() throws {
    try read([0])
    _ = try signals([.deleted, .confirmed])
    observed.hideItems()
    try read(nil)
    try read([0])
    #expect(news == [.locked])
  }

  @Test func `a signal of a doubtful item that can be read reports it`() throws {
    try read([0])
    observed.interrupt(mayLoseSecrets: true)
    try read(nil)
    update(try signals([]), [try item(0).path: try item(0)])
    #expect(events.last == .changed(.replaced(keys[0])))
  }

  /// The items may have been listed before the second signal.
  ///
  /// Until the first reading ends, the path isn't known.
  @Test(arguments: [true, false])
  func `a collection that comes or goes while it is read is read again`(isFirst: Bool) throws {
    let state = ObservedCollection.State(path: path, isLocked: false, items: [:])
    if !isFirst {
      try read([])
      #expect(!observed.needsItems(state))
      observed.collectionMayHaveChanged(path, isThere: false)
    }
    try read([]) { observed.collectionMayHaveChanged(path, isThere: false) }
    #expect(observed.needsReading && observed.needsItems(state))
    try read([])
    #expect(!observed.needsItems(state))
  }
}
#endif
