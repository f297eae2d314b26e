// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import KeyringStorage
import Testing

@testable import KeyringSecretService

/// A collection under observation, without a keyring.
final class ObservedCollectionTests {
  private let path = ObjectPath("/org/freedesktop/secrets/collection/login")
  private let keys = (0..<2).map { ItemKey.password(service: "service", account: "\($0)") }
  private var events: [StorageEvent] = []
  private lazy var observed = ObservedCollection(.default, .service("service")) { [unowned self] in
    events.append($0)
  }

  init() throws { try LibSecret.load() }

  /// An item as the provider answers, which was last changed long ago.
  private func item(_ number: Int, isLocked: Bool = false) throws -> StoredItem {
    let answer: Variant = .tuple([
      .properties([
        "Attributes": .strings(keys[number].newAttributes), "Locked": .boolean(isLocked),
      ])
    ])
    return try #require(
      StoredItem(path: ObjectPath("\(path.text)/\(number)"), answer: answer, reserved: []))
  }

  /// Reads the collection.
  ///
  /// - Parameters:
  ///   - numbers: The numbers of its items, or `nil` if it's locked.
  ///   - meanwhile: A closure that is called before the answers arrive.
  /// - Throws: An error if an item can't be made.
  private func read(_ numbers: [Int]?, meanwhile: () -> Void = {}) throws {
    observed.readingBegins()
    meanwhile()
    let items = try numbers?.map { try item($0) }
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
    var signals = ItemSignals()
    signals.add(try item(0).path, isDeleted: false, isConfirmed: false)
    observed.update(signals, [try item(0).path: try item(0, isLocked: true)])
    #expect(events.count == 3)
    try read([0])
    #expect(events.dropFirst(3) == [.changed(.replaced(keys[0]))])
    try read([0])
    #expect(events.count == 4)
  }

  @Test func `a signal of a doubtful item that can be read reports it`() throws {
    try read([0])
    observed.interrupt(mayLoseSecrets: true)
    try read(nil)
    var signals = ItemSignals()
    signals.add(try item(0).path, isDeleted: false, isConfirmed: false)
    observed.update(signals, [try item(0).path: try item(0)])
    #expect(events.last == .changed(.replaced(keys[0])))
  }
}
#endif
