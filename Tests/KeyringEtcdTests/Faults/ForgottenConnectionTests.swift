// SPDX-License-Identifier: Apache-2.0

#if Etcd && os(Linux)
import Keyring
import KeyringStorage
import TestPrograms
import Testing

@testable import KeyringEtcd

/// A firewall that forgets a connection tells neither side.
@Suite(.serialized, .timeLimit(.minutes(2))) struct ForgottenConnectionTests {
  private let key = ItemKey.password(service: "service", account: "account")

  @Test func `a watch whose connection was forgotten misses nothing`() async throws {
    let cluster = try Cluster.shared.get()
    let other = try await cluster.newStorage()
    try await other.setPassword("first", for: key)
    let firewall = try ForgetfulFirewall(try cluster.transport(), to: cluster.nodes[0])
    defer { firewall.end() }
    let storage = cluster.storage(like: other, firewall)
    let events = try await EventLog(of: storage)
    try await other.setPassword("second", for: key)
    events.wait(for: .changed(.replaced(key)))

    #expect(try firewall.forgetConnections() == 1)
    try await other.setPassword("third", for: key)
    // The node answers all other requests. The system tests the silent connection twice, five seconds apart.
    await expecting(within: .seconds(15)) { events.wait(for: .interrupted) }
    events.wait(for: .changed(.replaced(key)))
    events.wait(for: .resumed)
    #expect(try await storage.password(for: key) == "third")
    // The new connection brings the changes again.
    try await other.setPassword("fourth", for: key)
    events.wait(for: .changed(.replaced(key)))
    #expect(try await storage.password(for: key) == "fourth")
  }
}
#endif
