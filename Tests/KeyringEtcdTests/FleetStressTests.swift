// SPDX-License-Identifier: Apache-2.0

#if Etcd && os(Linux)
import Foundation
import Keyring
import KeyringStorage
import Synchronization
import TestPrograms
import Testing

@testable import KeyringEtcd

/// Many processes that use one cluster while its nodes fail.
///
/// These processes would have a sanitizer, too. Beside them, the nodes hardly find a leader.
@Suite(.serialized, .tags(.stress, .unsanitized)) struct FleetStressTests {
  /// The time in which nodes fail: 10 seconds, or the time that `Scripts/stress` sets.
  private static let seconds =
    ProcessInfo.processInfo.environment["KEYRING_TEST_SECONDS"].flatMap(Int.init) ?? 10

  /// The number of writes that all workers have acknowledged.
  private final class WriteCount: Sendable {
    private let state = Mutex((count: 0, goal: Int.max))
    private let isReached = DispatchSemaphore(value: 0)

    var value: Int { state.withLock { $0.count } }

    func increase() {
      let isGoal = state.withLock { state in
        state.count += 1
        return state.count == state.goal
      }
      if isGoal { isReached.signal() }
    }

    /// Waits until more writes have been acknowledged.
    func wait(for more: Int) {
      state.withLock { $0.goal = $0.count + more }
      #expect(isReached.wait(timeout: .now() + 60) == .success, "the fleet stands still")
    }
  }

  /// The lines that a worker prints.
  private final class Worker: Sendable {
    private let program: Program
    private let lines = Mutex("")
    private let isOver = DispatchSemaphore(value: 0)

    init(_ writes: WriteCount, _ arguments: String...) throws {
      program = try Program(Program.workerPath, arguments)
      Thread { [self] in
        while let line = try? program.readLine(patience: -1) {
          lines.withLock { $0 += line + "\n" }
          if (try? LinearizabilityLog.event(line))?.event.isAcknowledgedWrite == true {
            writes.increase()
          }
        }
        isOver.signal()
      }.start()
    }

    func end() throws -> String {
      try program.closeInput()
      try #require(isOver.wait(timeout: .now() + 60) == .success)
      #expect(try program.finish().status == 0)
      return lines.withLock { $0 }
    }
  }

  @Test(.timeLimit(.minutes(5)))
  func `no acknowledged write is lost while nodes are killed, frozen and cut off`() async throws {
    let cluster = try Cluster(hasNetwork: true)
    let (name, storage) = try await cluster.newWorkerStorage()
    let writes = WriteCount()
    let workers = try (0..<8).flatMap { number in
      try ["writes", "reads"].map {
        try Worker(writes, "mix-on", name, "service", "\($0)\(number)", $0)
      }
    }
    writes.wait(for: 50)
    let end = ContinuousClock.now + .seconds(Self.seconds)
    /// The times that the fleet took for its next writes after each kind of fault.
    var recoveries: [Cluster.Fault: [Duration]] = [:]
    while ContinuousClock.now < end {
      let count = recoveries.values.joined().count
      let fault = Cluster.Fault.allCases[count % Cluster.Fault.allCases.count]
      // Three faults of four are the leader's.
      let leader = try await cluster.leader()
      let node = count % 4 == 3 ? try #require(cluster.nodes.randomElement()) : leader
      let start = ContinuousClock.now
      try fault.begin(node)
      writes.wait(for: 50)
      recoveries[fault, default: []].append(ContinuousClock.now - start)
      try fault.end(node)
      writes.wait(for: 50)
    }
    let output = try workers.map { try $0.end() }.joined()
    let all = writes.value
    for (fault, times) in recoveries {
      print("\(fault): \(times.sorted()[times.count / 2]) until the next 50 writes (median)")
    }
    let faults = recoveries.values.joined().count
    print("\(all) acknowledged writes, \(faults) faults")
    #expect(all >= (Self.seconds < 60 ? 100 : 2_000))
    #expect(faults >= max(1, Self.seconds / 6))

    // A copy of a write that is still on its way comes before this one, or is refused.
    for (key, history) in try LinearizabilityLog.read(output) {
      let itemKey = Self.key(key)
      let last =
        itemKey.kind == .credentials
        ? try await storage[itemKey, as: .credential].read()?.login
        : try await storage.password(for: itemKey)
      #expect(history.violations(last: last).isEmpty, "\(key)")
    }
  }

  /// The key that a worker uses for an account.
  private static func key(_ account: String) -> ItemKey {
    switch account.utf8.last.map({ $0 % 3 }) {
    case 0: .password(service: "service", account: account)
    case 1: .credentials(service: "service", label: account)
    default: .value(service: "service", account: account)
    }
  }
}
#endif
