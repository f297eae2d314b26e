// SPDX-License-Identifier: Apache-2.0

#if Etcd && os(Linux)
import Foundation
import Keyring
import KeyringStorage
import Synchronization
import TestPrograms
import Testing

@testable import KeyringEtcd

/// A write whose request or reply is lost is done once, or never.
@Suite(.serialized) struct WriteFateTests {
  private let cluster: Cluster
  private let transport: FaultyTransport
  /// The storage whose requests fail.
  private let storage: EtcdStorage
  /// The storage of another process of the fleet.
  private let other: EtcdStorage
  private let key = ItemKey.password(service: "service", account: "account")

  init() async throws {
    cluster = try Cluster.shared.get()
    other = try await cluster.newStorage()
    transport = FaultyTransport(try cluster.transport())
    storage = cluster.storage(like: other, transport)
    // Reads the keys, and makes the lease.
    try await storage.setPassword("first", for: .password(service: "service", account: "other"))
  }

  /// The deadline is that of one answer.
  @Test func `a removal of many items has no total time limit`() async throws {
    let storage = cluster.storage(like: other, transport, timeout: .seconds(10))
    let keys = (0..<400).map { ItemKey.password(service: "many", account: "\($0)") }
    // All at once, the last ones could take longer than one write may.
    try await withThrowingTaskGroup { group in
      for first in 0..<8 {
        group.addTask { [other] in
          for index in stride(from: first, to: keys.count, by: 8) {
            try await other.setPassword("value", for: keys[index])
          }
        }
      }
      try await group.waitForAll()
    }
    // Each transaction has 64 items.
    transport.fail(
      (0..<7).map { _ in .late { try? await Task.sleep(for: .milliseconds(1600)) } })
    #expect(try await storage.removeItems(matching: .service("many")) == 400)
  }

  @Test func `a write finds a value and keys that are newer than those of this process`()
    async throws
  {
    try await storage.setPassword("second", for: key)
    transport.fail(
      .late { [storage, other, key] in
        _ = try? await other.rotateDataKey()
        // This process reads newer keys in the meantime, which aren't the newest.
        _ = try? await storage.password(for: .password(service: "service", account: "other"))
        _ = try? await other.rotateDataKey()
        try? await other.setPassword("third", for: key)
      })
    try await storage.setPassword("fourth", for: key)
    #expect(try await other.password(for: key) == "fourth")
  }

  @Test func `an addition whose reply is lost succeeds once`() async throws {
    transport.fail(.replyLost)
    try await storage.save(SecureItem(key: key, secret: Secret("new")), mode: .add)
    #expect(try await other.password(for: key) == "new")
    transport.fail(.replyLost, .replyLost)
    try await storage.setPassword("newer", for: key)
    #expect(try await other.password(for: key) == "newer")
    transport.fail(.replyLost)
    #expect(try await storage.remove(key))
    #expect(try await other.password(for: key) == nil)
    transport.fail(.requestLost, .requestLost, .requestLost)
    try await storage.save(SecureItem(key: key, secret: Secret("again")), mode: .add)
    #expect(try await other.password(for: key) == "again")
  }

  @Test func `a removal of several items whose reply is lost is counted once`() async throws {
    for number in 0..<70 {
      try await other.setPassword("value", for: .password(service: "several", account: "\(number)"))
    }
    // Each transaction has 64 items. The copy of the first one gets its reply.
    transport.fail(.replyLost, .late {}, .replyLost)
    let writes = transport.writeCount
    #expect(try await storage.removeItems(matching: .service("several")) == 70)
    #expect(transport.writeCount == writes + 2)
    #expect(try await other.items(matching: .service("several")).isEmpty)
  }

  @Test(arguments: [false, true])
  func `an update brings no item back that was removed meanwhile`(hasSecret: Bool) async throws {
    try await storage.setPassword("first", for: key)
    transport.fail(.late { [other, key] in _ = try? await other.remove(key) })
    let item = SecureItem(key: key, secret: hasSecret ? Secret("new") : nil, label: "new")
    await expect(.itemNotFound) { try await storage.save(item, mode: .update) }
    #expect(try await other.password(for: key) == nil)
  }

  @Test(arguments: [SaveMode.update, .addOrReplace], [true, false])
  func `a new label or secret brings no part back that was replaced meanwhile`(
    mode: SaveMode, isLabel: Bool
  ) async throws {
    try await storage.setPassword("first", for: key)
    let label = SecureItem(key: key, label: "new")
    let secret = SecureItem(key: key, secret: Secret("second"))
    transport.fail(
      .late { [other] in try? await other.save(isLabel ? secret : label, mode: .update) })
    try await storage.save(isLabel ? label : secret, mode: mode)
    let item = try await other.item(for: key)
    #expect(item?.label == "new")
    #expect(item?.secret == Secret("second"))
  }

  @Test func `a creation of a namespace whose reply is lost succeeds once`() async throws {
    let new = cluster.storage("test-\(UUID().uuidString)")
    transport.fail(.replyLost)
    #expect(try await cluster.storage(like: new, transport).createNamespace())
    #expect(try await new.createNamespace() == false)
  }

  @Test func `a namespace that an author finds missing after a doubt isn't created later`()
    async throws
  {
    let new = cluster.storage("test-\(UUID().uuidString)")
    let author = cluster.storage(like: new, transport, timeout: .seconds(4))
    transport.fail([.held] + Array(repeating: .requestLost, count: 1000))
    await expect(.connectionLost) { try await author.createNamespace() }
    transport.fail()
    await expect(.noStorage) { try await author.password(for: key) }
    #expect(await transport.release().count == 1)
    await expect(.noStorage) { try await author.password(for: key) }
    #expect(try await author.createNamespace())
  }

  @Test func `a write of an item that this process doesn't know reads it first`() async throws {
    try await other.setPassword("old", for: key)
    let (before, requests) = (transport.writeCount, transport.count)
    try await storage.setPassword("new", for: key)
    #expect(transport.writeCount - before == 1)
    #expect(transport.count - requests >= 2)
    try await storage.setPassword("newer", for: key)
    #expect(transport.writeCount - before == 2)
  }

  @Test func `a removal that begins again removes no more than its limit`() async throws {
    for number in 0..<130 {
      try await storage.setPassword("s3cret", for: .password(service: "many", account: "\(number)"))
    }
    // The newest 64 are removed at once. Then another process changes one of the others.
    let changed = ItemKey.password(service: "many", account: "50")
    let isChanged = Atomic(false)
    transport.fail(
      .late {},
      .late { [other] in
        try? await other.setPassword("new", for: changed)
        isChanged.store(true, ordering: .relaxed)
      })
    var query = ItemQuery.service("many")
    query.limit = 100
    #expect(try await storage.removeItems(matching: query) == 100)
    let wasChanged = isChanged.load(ordering: .relaxed)
    #expect(wasChanged)
    #expect(try await other.items(matching: .service("many")).count == 30)
  }

  @Test func `a removal that others get in the way of brings no secrets back`() async throws {
    let large = String(repeating: "x", count: 100_000)
    for number in 0..<5 {
      try await other.setPassword(large, for: .password(service: "large", account: "\(number)"))
    }
    let isChanged = Atomic(false)
    transport.fail(
      .late { [other] in
        try? await other.setPassword(large, for: .password(service: "large", account: "0"))
        isChanged.store(true, ordering: .relaxed)
      })
    let writes = transport.writeCount
    #expect(try await storage.removeItems(matching: .service("large")) == 5)
    #expect(transport.writeCount == writes + 2, "the first removal failed")
    let wasChanged = isChanged.load(ordering: .relaxed)
    #expect(wasChanged)
    let largest = transport.largestReplyToWrite.load(ordering: .relaxed)
    #expect(largest < large.count)
  }

  /// Refuses the write as a full database does, and also as one that is processed again does.
  @Test(arguments: [false, true])
  func `a write that was fenced isn't reported as done`(isFull: Bool) async throws {
    let keys = try #require(storage.fleet.keys.current)
    let (service, place) = (keys.names.service(of: key), keys.names.item(key))
    let id = [UInt8].random(FleetItem.writeIDByteCount)
    let record = Transaction.Step.put(
      service.writes + id.hexadecimal, Array("fenced".utf8), lease: nil)
    try await cluster.call("/v3/kv/txn", Transaction(success: [record]))
    if isFull {
      transport.alter(requests: { (request) throws(EtcdFailure) in
        guard request.contains("request_put") else { return request }
        throw EtcdFailure(
          cause: .refused(GatewayError(code: 8, message: "mvcc: database space exceeded")))
      })
    }
    let outcome = try? await FleetOperation.perform(.save, on: storage.fleet) {
      (operation) throws(SecureStorageError) in
      try await operation.commit(
        [ConditionalChange(key: place, revision: 0, value: [1])], service: service, keys, id: id)
    }
    if case .done = outcome { Issue.record("the write was reported as done") }
    transport.alter()
    #expect(try await other.password(for: key) == nil)
  }

  @Test func `a timeout can have any length`() async throws {
    let patient = cluster.storage(like: other, transport, timeout: .seconds(Int64.max))
    try await patient.setPassword("new", for: key)
    #expect(try await patient.password(for: key) == "new")
  }

  @Test func `a copy that arrives late changes nothing`() async throws {
    transport.fail(.held)
    try await storage.save(SecureItem(key: key, secret: Secret("new")), mode: .add)
    try await other.remove(key)
    let replies = await transport.release()
    #expect(replies.count == 1)
    #expect(try await other.password(for: key) == nil)
  }

  @Test func `a copy of a removal that arrives late removes nothing`() async throws {
    try await storage.setPassword("first", for: key)
    transport.fail(.held)
    #expect(try await storage.remove(key))
    try await other.setPassword("second", for: key)
    #expect(await transport.release().count == 1)
    #expect(try await other.password(for: key) == "second")
  }

  @Test func `an addition that lost to another one is never done`() async throws {
    transport.fail(.held)
    try await other.setPassword("theirs", for: key)
    await expectError(.itemAlreadyExists) {
      try await storage.save(SecureItem(key: key, secret: Secret("ours")), mode: .add)
    }
    // Without the fence, the copy would create the item now.
    try await other.remove(key)
    #expect(await transport.release().count == 1)
    #expect(try await other.password(for: key) == nil)
  }

  @Test func `a copy that arrives after the end of its lease is refused`() async throws {
    transport.fail(.held)
    try await storage.save(SecureItem(key: key, secret: Secret("new")), mode: .add)
    try await other.remove(key)
    try await cluster.revokeLeases()
    let replies = await transport.release()
    guard case .failure(let failure) = try #require(replies.first) else {
      Issue.record("the copy was processed")
      return
    }
    #expect(failure.refusal?.code == 5)
    #expect(try await other.password(for: key) == nil)
    // A new lease replaces the one that is gone.
    try await storage.setPassword("later", for: key)
    #expect(try await other.password(for: key) == "later")
  }

  @Test func `a cancelled write that was done is reported as done`() async throws {
    transport.failAndCancel([.replyLost])
    let write = Task { [storage, key] in
      try await storage.save(SecureItem(key: key, secret: Secret("new")), mode: .add)
      #expect(Task.isCancelled)
    }
    try await write.value
    #expect(try await other.password(for: key) == "new")
  }

  /// Expects a write to be reported as cancelled, and returns its error.
  private func expectCanceledWrite() async -> SecureStorageError? {
    let write = Task { [storage, key] in
      try await storage.save(SecureItem(key: key, secret: Secret("new")), mode: .add)
    }
    return await expectError(.canceled) { try await write.value }
  }

  @Test func `a write that was reported as cancelled is never done`() async throws {
    transport.failAndCancel([.held])
    let error = await expectCanceledWrite()
    #expect(error?.message.contains("No node") == false)
    #expect(await transport.release().count == 1)
    #expect(try await other.password(for: key) == nil)
  }

  @Test func `the error of a cancelled write names the doubt if no node answers`() async throws {
    transport.failAndCancel([.held] + Array(repeating: .requestLost, count: 1000))
    let error = await expectCanceledWrite()
    #expect(error?.message.contains("No node") == true)
    transport.fail()
    _ = await transport.release()
    #expect(try await other.password(for: key) == "new")
  }

  /// Returns a storage whose author was told of a doubt about a write, which is still on its way.
  ///
  /// The old value is "first", and no later write arrives.
  private func storageInDoubt() async throws -> EtcdStorage {
    let storage = cluster.storage(like: other, transport, timeout: .seconds(2))
    try await storage.setPassword("first", for: key)
    transport.fail([.held] + Array(repeating: .requestLost, count: 1000))
    await expect(.connectionLost) { try await storage.setPassword("new", for: key) }
    return storage
  }

  private func refuseWrites(_ refusal: GatewayError) {
    transport.alter(requests: { (request) throws(EtcdFailure) in
      guard request.contains("request_put") else { return request }
      throw EtcdFailure(cause: .refused(refusal))
    })
  }

  @Test func `what an author reads after a doubt stays true`() async throws {
    let storage = try await storageInDoubt()
    // Without the end of the doubt, there is no answer.
    await expect(.connectionLost) { try await storage.password(for: key) }
    transport.fail()
    #expect(try await storage.password(for: key) == "first")
    #expect(await transport.release().count == 1)
    #expect(try await other.password(for: key) == "first")
  }

  /// The database may have room again, and the user the role, before the copy arrives.
  @Test(arguments: [
    GatewayError(code: 8, message: "mvcc: database space exceeded"),
    GatewayError(code: 7, message: "etcdserver: permission denied"),
  ])
  func `a refusal that may pass doesn't prevent a read, and ends no doubt`(
    refusal: GatewayError
  ) async throws {
    let storage = try await storageInDoubt()
    transport.fail()
    refuseWrites(refusal)
    #expect(try await storage.password(for: key) == "first")
    transport.alter()
    #expect(try await storage.password(for: key) == "first")
    #expect(await transport.release().count == 1)
    #expect(try await other.password(for: key) == "first")
  }

  /// Without its lease, no copy takes effect, although the refusal goes on.
  @Test(arguments: [true, false])
  func `a doubt ends with the lease of the write`(hasRole: Bool) async throws {
    let storage = try await storageInDoubt()
    transport.fail()
    if !hasRole {
      refuseWrites(GatewayError(code: 7, message: "etcdserver: permission denied"))
      #expect(try await storage.password(for: key) == "first")
      let doubts = storage.fleet.writes.doubts.count
      #expect(doubts == 1)
    }
    try await cluster.revokeLeases()
    #expect(try await storage.password(for: key) == "first")
    let isSettled = !storage.fleet.writes.hasDoubts
    #expect(isSettled)
    _ = await transport.release()
    #expect(try await storage.password(for: key) == "first")
  }
}
#endif
