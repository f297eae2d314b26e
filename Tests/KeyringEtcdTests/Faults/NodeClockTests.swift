// SPDX-License-Identifier: Apache-2.0

#if Etcd && os(Linux)
import Foundation
import Keyring
import KeyringStorage
import TestPrograms
import Testing

@testable import KeyringEtcd

/// The clock of a node dates its log and its answers, and nothing else.
@Suite(.serialized, .timeLimit(.minutes(2))) struct NodeClockTests {
  private let key = ItemKey.password(service: "service", account: "account")

  @Test func `a leader whose clock is an hour ahead changes nothing`() async throws {
    let library = try otherClock()
    defer { try? FileManager.default.removeItem(atPath: library) }
    let cluster = try Cluster(environments: [
      0: ["LD_PRELOAD": library, "CLOCK_OFFSET": "3600", "TZ": "UTC"], 1: ["TZ": "UTC"],
    ])
    let ahead = cluster.nodes[0]
    #expect(try startTime(of: ahead).timeIntervalSinceNow > 3000)
    #expect(try startTime(of: cluster.nodes[1]).timeIntervalSinceNow < 60)
    try await cluster.enableUsers()
    try await cluster.makeLeader(ahead)

    let other = try await cluster.newStorage(forServiceOf: key)
    let settings = other.fleet.settings
    let storage = cluster.storage(
      settings.namespace, endpoints: [ahead.endpoint], user: settings.user)
    let events = EventLog()
    let subscription = try await storage.observeWithoutBlocking(nil, events.append)
    try await other.setPassword("first", for: key)
    events.wait(for: .changed(.created(key)))
    #expect(try await storage.password(for: key) == "first")
    try await storage.setPassword("second", for: key)
    events.wait(for: .changed(.replaced(key)))
    #expect(try await other.password(for: key) == "second")
    subscription.cancel()

    // The doctor finds the node whose clock it is, and no other.
    let findings = try await other.diagnose(writing: false).findings.filter {
      $0.text.contains("clock")
    }
    #expect(findings.map(\.subject) == ["node \(ahead.endpoint)"])
    #expect(findings.first?.text.hasSuffix("seconds ahead of that of this machine.") == true)
    #expect(findings.first?.recoverySuggestion != nil)
  }

  /// Compiles a library that gives a node another clock, and returns its path.
  private func otherClock() throws -> String {
    let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../../Fixtures/clock.c").path
    let library = FileManager.default.temporaryDirectory
      .appendingPathComponent("swift-keyring-clock-\(UUID().uuidString).so").path
    let script = "exec \"$(command -v clang || command -v cc)\" -shared -fPIC -O1 -o \"$1\" \"$0\""
    let compiler = try Program("sh", ["-c", script, source, library])
    try #require(try compiler.finish().status == 0)
    return library
  }

  /// Returns the time of a node's clock when it began to serve clients.
  private func startTime(of node: Cluster.Node) throws -> Date {
    let words = node.readyLine.split(separator: "\"")
    let index = try #require(words.firstIndex(of: "ts")) + 2
    // The time has fractions of a second, which the style doesn't parse.
    return try Date(words[index].prefix(19) + "Z", strategy: .iso8601)
  }
}
#endif
