// SPDX-License-Identifier: Apache-2.0

#if Etcd && os(Linux)
import Foundation
import Keyring
import KeyringStorage
import TestPrograms
import Testing

/// Processes that are killed while they rewrite a credential.
///
/// These processes would have a sanitizer, too. Beside them, the nodes hardly find a leader.
@Suite(.serialized, .tags(.kills, .unsanitized)) struct KilledWriterTests {
  @Test func `every reader finds a whole pair, and nothing is lost`() async throws {
    let (name, storage) = try await Cluster.shared.get().newWorkerStorage()
    var saved = 0
    var underWay = 0
    for _ in 0..<Kills.count {
      let writer = try Program.worker("rewrite", name, "service")
      let found = try writer.readLine()
      // It's the last pair acknowledged before the kill, or the one that was being written.
      let pairs = [saved, saved + 1].map { $0 == 0 ? "found none none" : "found \($0) \($0)" }
      try #require(pairs.contains(found), "\(saved) was acknowledged")
      if saved > 0, found == pairs[1] { underWay += 1 }
      saved = try Kills.number(in: writer.readLine())
      try writer.writeLine("go")
      // The kill comes at any moment of the next writes.
      usleep(.random(in: 0..<10_000))
      for line in String(decoding: try writer.end(), as: UTF8.self).split(separator: "\n") {
        saved = try Kills.number(in: String(line))
      }
    }
    print("\(underWay) of \(Kills.count) kills came after the write, and before it was known")
    #expect(try await storage.items(matching: ItemQuery()).count == 1)
  }

  /// The leader is killed more often than other nodes.
  @Test(.timeLimit(.minutes(Kills.count)))
  func `no observer goes back or misses a change when writers and nodes are killed`() async throws {
    let cluster = try Cluster()
    let (name, storage) = try await cluster.newWorkerStorage()
    let key = ItemKey.password(service: "service", account: "account")
    let trial = try ObservationTrial(of: key, on: storage)
    defer { trial.end() }
    try await trial.observe(cluster.storage(like: storage), as: "fleet")
    try await trial.observe(
      cluster.storage(like: storage).cached(), as: "cache", readsAlways: true)
    for number in 0..<Kills.count {
      try trial.kill(Program.worker("replace", name, "service"))
      try await trial.rest()
      let node = try await number.isMultiple(of: 3) ? cluster.nodes[1] : cluster.leader()
      try await trial.whileWriting(to: cluster.storage(like: storage)) {
        node.kill()
        try Cluster.start([node])
      }
      try await trial.rest()
    }
  }
}
#endif
