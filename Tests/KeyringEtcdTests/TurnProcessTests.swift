// SPDX-License-Identifier: Apache-2.0

#if Etcd && os(Linux)
import Foundation
import Keyring
import KeyringStorage
import TestPrograms
import Testing

@testable import KeyringEtcd

/// Processes that take turns, of which some are killed or stopped, and nodes that are killed.
@Suite(.serialized, .timeLimit(.minutes(3))) struct TurnProcessTests {
  private let cluster: Cluster
  private let name: String
  private let storage: EtcdStorage
  private let key = ItemKey.password(service: "service", account: "account")

  init() async throws {
    cluster = try Cluster()
    (name, storage) = try await cluster.newWorkerStorage()
    try await storage.setPassword("0", for: key)
  }

  /// Starts a process whose turn has begun.
  private func holder() throws -> Program {
    let program = try waiter()
    #expect(try program.readLine() == "has 0")
    return program
  }

  private func waiter() throws -> Program {
    try Program.worker("keep-turn", name, "service", "60")
  }

  /// Returns the time until the next one's turn begins, and what it finds.
  private func time(_ next: Program) throws -> (Duration, String) {
    let start = ContinuousClock.now
    let line = try next.readLine()
    return (ContinuousClock.now - start, line)
  }

  /// Waits until processes are in the cluster's queue.
  private func waitForQueue(_ count: Int) async throws {
    let keys = try #require(storage.fleet.keys.current)
    let prefix = RangeRequest(prefix: keys.names.turns(key))
    for _ in 0..<600 {
      let reply = try await cluster.call("/v3/kv/range", prefix)
      if try RangeReply(json: reply).values.count == count { return }
      try await Task.sleep(for: .milliseconds(50))
    }
    Issue.record("there weren't \(count) in the queue")
  }

  @Test func `one process at a time changes the item`() throws {
    let directory = TemporaryDirectory()
    let programs = try (0..<4).map { _ in
      try Program.worker("count-up", name, "service", directory.path("witness"), "2", "6")
    }
    for program in programs {
      let (status, output) = try program.finish()
      #expect(status == 0)
      #expect(String(decoding: output, as: UTF8.self) == "24 calls\n", "a closure ran again")
    }
    #expect(try storage.password(for: key) == "96")
  }

  @Test func `a process that ends without a change lets the next one go on at once`()
    async throws
  {
    let (one, next) = (try holder(), try waiter())
    try await waitForQueue(2)
    #expect(String(decoding: try one.finish().output, as: UTF8.self) == "failed\n")
    let (time, line) = try time(next)
    #expect(line == "has 0")
    #expect(time < .seconds(3))
  }

  @Test(.tags(.slow)) func `who dies lets go after ten seconds`() async throws {
    let (one, next) = (try holder(), try waiter())
    try await waitForQueue(2)
    try one.end()
    let (time, line) = try time(next)
    #expect(line == "has 0")
    #expect(time < .seconds(11))
    print("SIGKILL: the next turn began after \(time)")
    try next.writeLine("1")
    #expect(try next.readLine() == "stored")
  }

  @Test(.tags(.slow)) func `who is stopped for longer than the lease is passed, and refused`()
    async throws
  {
    let (one, next) = (try holder(), try waiter())
    try await waitForQueue(2)
    one.suspend()
    let (time, line) = try time(next)
    #expect(line == "has 0")
    #expect(time < .seconds(11))
    print("SIGSTOP: the next turn began after \(time)")
    one.suspend(false)
    try one.writeLine("1")
    let answer = try one.readLine()
    #expect(answer.hasPrefix("error turnLost The new value couldn't be stored, and is lost."))
    #expect(answer.contains("this program was stopped"))
    try next.writeLine("1")
    #expect(try next.readLine() == "stored")
    #expect(try await storage.password(for: key) == "1")
  }

  @Test(.tags(.slow)) func `who is stopped for less keeps its turn`() async throws {
    let (one, next) = (try holder(), try waiter())
    try await waitForQueue(2)
    one.suspend()
    try await Task.sleep(for: .seconds(5))
    one.suspend(false)
    // The lease is longer than the rest of the first one.
    try await Task.sleep(for: .seconds(8))
    try await waitForQueue(2)
    try one.writeLine("1")
    #expect(try one.readLine() == "stored")
    #expect(try next.readLine() == "has 1")
  }

  /// The holder blocks its thread meanwhile.
  @Test(.tags(.slow)) func `nodes that are killed and start again end no turn`() async throws {
    let (one, next) = (try holder(), try waiter())
    try await waitForQueue(2)
    for index in 0..<3 {
      let node = index == 0 ? try await cluster.leader() : cluster.nodes[index]
      node.kill()
      try await Task.sleep(for: .seconds(3))
      try Cluster.start([node])
      try await Task.sleep(for: .seconds(3))
    }
    try await waitForQueue(2)
    try one.writeLine("1")
    #expect(try one.readLine() == "stored")
    let (time, line) = try time(next)
    #expect(line == "has 1")
    #expect(time < .seconds(3))
  }
}
#endif
