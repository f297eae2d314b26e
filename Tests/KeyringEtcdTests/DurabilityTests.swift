// SPDX-License-Identifier: Apache-2.0

#if Etcd && os(Linux)
import Keyring
import KeyringStorage
import KeyringTesting
import Testing

@testable import KeyringEtcd

/// A cluster whose nodes end.
@Suite(.serialized, .timeLimit(.minutes(2))) struct DurabilityTests {
  private let cluster: Cluster

  init() throws { cluster = try Cluster() }

  /// The second end is that of a cluster behind a cache.
  @Test(arguments: StorageContract.allCases.filter { $0.requirement == .restart })
  func `a restarted cluster keeps the contract`(rule: StorageContract) async throws {
    let storage = try await cluster.newStorage()
    try rule.verify(
      storage,
      restart: { ending in
        try restart(after: ending)
        let storage = cluster.storage(like: storage)
        return ending == .kill ? storage.cached() : storage
      })
  }

  /// Restarts one node after the other, or kills all of them.
  private func restart(after ending: StorageContract.Ending) throws {
    switch ending {
    case .orderly:
      for node in cluster.nodes {
        node.end()
        try Cluster.start([node])
      }
    case .kill:
      for node in cluster.nodes { node.kill() }
      try Cluster.start(cluster.nodes)
    }
  }
}
#endif
