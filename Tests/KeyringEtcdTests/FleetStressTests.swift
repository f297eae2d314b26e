#if Etcd && os(Linux)
import Foundation
import Keyring
import KeyringStorage
import Synchronization
import TestPrograms
import Testing

@testable import KeyringEtcd

/// Many processes that use one cluster while its nodes fail.
@Suite(.serialized) struct FleetStressTests {
  /// How long nodes fail: 10 seconds, or the time that `Scripts/stress` sets.
  private static let seconds =
    ProcessInfo.processInfo.environment["KEYRING_TEST_SECONDS"].flatMap(Int.init) ?? 10

  /// The lines that a worker prints.
  private final class Worker: Sendable {
    private let program: Program
    private let lines = Mutex("")
    private let isOver = DispatchSemaphore(value: 0)
    /// The number of writes that all workers have acknowledged.
    static let writes = Atomic(0)

    init(_ arguments: String...) throws {
      program = try Program(Program.workerPath, arguments)
      Thread { [self] in
        while let line = try? program.readLine(), !line.isEmpty {
          lines.withLock { $0 += line + "\n" }
          if line.contains("\twrite\t"), !line.contains("\t\(Int.max)\t") {
            Self.writes.add(1, ordering: .relaxed)
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
  func `no acknowledged write is lost while nodes are killed and frozen`() async throws {
    let cluster = try Cluster()
    let (name, storage) = try await cluster.newWorkerStorage()
    let workers = try (0..<8).flatMap { number in
      try ["writes", "reads"].map { try Worker("mix-on", name, "service", "\($0)\(number)", $0) }
    }
    var writes = 0
    func waitForWrites() {
      #expect(
        waitUntil { Worker.writes.load(ordering: .relaxed) >= writes + 50 },
        "the fleet stands still")
      writes = Worker.writes.load(ordering: .relaxed)
    }
    waitForWrites()
    let end = ContinuousClock.now + .seconds(Self.seconds)
    var faults = 0
    while ContinuousClock.now < end {
      // Three faults of four are the leader's.
      let leader = try await cluster.leader()
      let node = faults % 4 == 3 ? try #require(cluster.nodes.randomElement()) : leader
      if faults.isMultiple(of: 2) {
        node.kill()
        waitForWrites()
        try Cluster.start([node])
      } else {
        node.suspend()
        waitForWrites()
        node.suspend(false)
      }
      waitForWrites()
      faults += 1
    }
    let output = try workers.map { try $0.end() }.joined()
    let all = Worker.writes.load(ordering: .relaxed)
    print("\(all) acknowledged writes, \(faults) faults")
    #expect(all >= (Self.seconds < 60 ? 100 : 2_000))

    // A copy of a write that is still on its way comes before this one, or is refused.
    for (key, history) in try LinearizabilityLog.read(output) {
      let itemKey = Self.key(key)
      let last =
        itemKey.kind == .credentials
        ? try await storage.credential(for: itemKey)?.login
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
