// SPDX-License-Identifier: Apache-2.0

#if Etcd
internal import Synchronization

/// The nodes of a cluster, and the one that answered last.
final class EtcdNodes: Sendable {
  /// The time that a node has for its answer before another one is asked, in microseconds.
  static let patience: Int64 = 1_000_000

  let transport: any EtcdTransport
  let endpoints: [EtcdEndpoint]
  private let index: Mutex<Int>

  init(_ transport: any EtcdTransport, _ endpoints: [EtcdEndpoint]) {
    (self.transport, self.endpoints) = (transport, endpoints)
    // Different processes ask different nodes.
    index = Mutex(Int.random(in: 0..<max(1, endpoints.count)))
  }

  /// The index of the node that answered last.
  var current: Int { index.withLock { $0 } }

  /// Chooses the next node, unless another operation has done so.
  func rotate(from old: Int) {
    index.withLock { if $0 == old { $0 = (old + 1) % endpoints.count } }
  }
}
#endif
