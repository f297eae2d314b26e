// SPDX-License-Identifier: Apache-2.0

#if Etcd && os(Linux)
import Foundation
import Keyring
import KeyringStorage
import TestPrograms
import Testing

/// Programs that refresh the same tokens while they, and nodes of their cluster, are killed and stopped.
///
/// These processes would have a sanitizer, too. Beside them, the nodes hardly find a leader.
@Suite(.serialized, .tags(.kills, .unsanitized), .timeLimit(.minutes(60))) struct RefreshTrialTests
{
  /// Each program that dies in its turn costs ten seconds, so there are fewer refreshes than elsewhere.
  private static let count = RefreshTrial.refreshes / (RefreshTrial.isLong ? 10 : 3)

  @Test(arguments: RefreshTrial.isLong ? [0, 30] : [0])
  func `each token is sent once, unless a program dies with the answer`(grace: Int) async throws {
    let cluster = try Cluster()
    let (name, storage) = try await cluster.newWorkerStorage()
    let outcome = try RefreshTrial(of: storage, named: name, grace: grace).run(Self.count) {
      let node = try #require(cluster.nodes.randomElement())
      node.kill()
      try Cluster.start([node])
    }
    print("etcd, grace time \(grace) s: \(outcome)")
    #expect(outcome.faults.isEmpty)
    // The lease of a program that was killed ends in time.
    #expect(outcome.slowestRecovery < .seconds(25))
    if grace > 0 { #expect(outcome.signOuts == 0) }
  }
}
#endif
