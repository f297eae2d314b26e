// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Foundation
import Keyring
import KeyringStorage
import Synchronization
import Testing

@testable import KeyringSecretService

/// The cost of a list, and its progress.
///
/// On gnome-keyring, each property of each item takes time in proportion to the number of items.
@Suite(.withOwnKeyring) struct ListingTests {
  private let bus: PrivateBus
  private let service: FakeService
  private let storage: SecretServiceStorage

  init() throws {
    (bus, service) = try PrivateBus.with { try FakeService(on: $0) }
    try service.takeName("org.gnome.keyring")
    storage = bus.storage()
    for number in 0..<30 { try storage.save(item(number), mode: .add) }
    try service.age(seconds: 1000)
    _ = try service.takeCalls()
  }

  private func key(_ number: Int) -> ItemKey { .password(service: "service", account: "\(number)") }

  private func item(_ number: Int) -> SecureItem {
    SecureItem(key: key(number), secret: Secret("s3cret \(number)"), label: "label \(number % 2)")
  }

  /// Puts an item beside ours, as python's keyring does.
  private func storeTheirs() throws {
    let attributes = [
      "service": "service", "username": "5", "application": "Python keyring library",
    ]
    try SecretTool.store("theirs", label: "Theirs", attributes, on: bus)
  }

  @Test(
    arguments: [
      // Each item takes one call for its attributes. The collection takes one for its lock state.
      (ItemQuery.service("service"), ["Get": 31]),
      (.service("service", details: .secret), [:]),
    ])
  func `a list reads no more than it's asked for`(query: ItemQuery, calls: [String: Int]) throws {
    let items = try storage.items(matching: query)
    #expect(items.count == 30 && Set(items.map(\.key)) == Set((0..<30).map(key)))
    let taken = try service.takeCalls()
    #expect(taken["GetAll"] == nil && calls.allSatisfy { taken[$0] == $1 })
    guard query.details.contains(.secret) else { return }
    #expect(items.allSatisfy { $0.secret?.text == "s3cret \($0.key.attributes["username"] ?? "")" })
  }

  @Test func `conditions on metadata still apply`() throws {
    var query = ItemQuery.service("service")
    query.label = "label 1"
    #expect(try storage.items(matching: query).count == 15)
    #expect(try service.takeCalls()["GetAll"] == 30)
  }

  @Test(arguments: [ItemQuery.Details.secret, .all, []])
  func `a list of newest items stops at the first older one`(details: ItemQuery.Details) throws {
    try storage.save(item(7), mode: .update)
    try service.age(seconds: 10)
    try storage.save(item(3), mode: .update)
    _ = try service.takeCalls()
    var query = ItemQuery.service("service", details: details)
    query.limit = 2
    let items = try storage.items(matching: query)
    #expect(items.map(\.key) == [key(3), key(7)])
    if details.contains(.secret) {
      #expect(items.map(\.secret) == [Secret("s3cret 3"), Secret("s3cret 7")])
    }
    // One item more than the limit shows that the rest is older.
    #expect(try service.takeCalls()["GetAll"] == 3)
  }

  @Test func `a search for the newest match goes further back`() throws {
    for number in [2, 4, 6] {
      try storage.save(item(number), mode: .update)
      try service.age(seconds: 10)
    }
    try storage.save(item(1), mode: .update)
    try service.age(seconds: 10)
    try storage.save(item(8), mode: .update)
    _ = try service.takeCalls()
    var query = ItemQuery.service("service")
    query.label = "label 1"
    query.limit = 1
    #expect(try storage.items(matching: query).map(\.key) == [key(1)])
    let looks = try #require(try service.takeCalls()["GetAll"])
    #expect(looks < 15)
  }

  @Test(arguments: [ItemQuery.Details.secret, .all, []])
  func `a limited list considers all items of the same second`(details: ItemQuery.Details) throws {
    let all = try storage.items(matching: .service("service", details: .metadata))
    var query = ItemQuery.service("service", details: details)
    query.limit = 3
    #expect(try storage.items(matching: query).map(\.key) == all.prefix(3).map(\.key))
  }

  @Test func `a newer item of another program is not taken for ours`() throws {
    // The valid item is further back.
    try storeTheirs()
    var query = ItemQuery.service("service", details: .all)
    query.limit = 1
    let newest = try storage.items(matching: query)
    #expect(newest.count == 1)
    #expect(newest.first?.secret?.text != "theirs")
    query.limit = nil
    #expect(try storage.items(matching: query).first?.key == newest.first?.key)
  }

  @Test func `a removal looks at every item of its keys`() throws {
    try service.age(seconds: 10)
    try storage.save(item(5), mode: .update)
    try storeTheirs()
    var query = ItemQuery.service("service")
    query.limit = 1
    #expect(try storage.removeItems(matching: query) == 1)
    #expect(try storage.password(for: key(5)) == nil)
  }
}

// MARK: - Progress

extension ListingTests {
  @Test func `progress is reported on the thread of the caller`() throws {
    try service.quiet()
    for number in 30..<100 { try storage.save(item(number), mode: .add) }
    let told = Mutex<[[Int]]>([])
    var query = ItemQuery.service("service", details: .all)
    let thread = pthread_self()
    let (storage, key) = (storage, self.key(0))
    query.onProgress = { completed, total in
      told.withLock { $0.append([completed, total]) }
      #expect(pthread_equal(thread, pthread_self()) != 0)
      // The app's code may do anything, even wait for the keyring.
      let password = Result { try storage.password(for: key) }
      #expect((try? password.get()) == "s3cret 0")
    }
    #expect(try storage.items(matching: query).count == 100)
    #expect(told.withLock { $0 } == [[64, 100], [100, 100]])
  }

  @Test func `a progress handler blocks no other call`() async throws {
    let told = Mutex<[[Int]]>([])
    var query = ItemQuery.service("service", details: .all)
    let (storage, key) = (storage, self.key(0))
    query.onProgress = { completed, total in
      told.withLock { $0.append([completed, total]) }
      let password = Result { try storage.password(for: key) }
      #expect((try? password.get()) == "s3cret 0")
    }
    let another = self.key(1)
    async let other = storage.password(for: another)
    let items = try await storage.items(matching: query)
    #expect(items.count == 30)
    #expect(try await other == "s3cret 1")
    let reports = told.withLock { $0 }
    #expect(reports == reports.sorted { $0[0] < $1[0] })
    #expect(reports.allSatisfy { $0[1] == 30 })
  }
}
#endif
