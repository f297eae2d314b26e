// SPDX-License-Identifier: Apache-2.0

#if Etcd
internal import KeyringRuntime
internal import Synchronization

/// The history that all replies belong to, as far as it's known.
///
/// A cluster that was restored from a backup has another one.
final class ClusterHistory: Sendable {
  private struct State: Sendable {
    /// The identifier of the cluster.
    var cluster: String?
    /// The latest revision that was seen.
    var revision: Int64 = 0
    /// `true` after all nodes that answer have named the same cluster.
    var isChecked = false
  }

  private let nodes: EtcdNodes
  private let state = Mutex(State())
  /// The permission to ask all nodes for their cluster.
  private let comparing = TaskSemaphore(1)
  private let onOther: @Sendable () -> Void

  /// Creates an unknown history.
  ///
  /// - Parameters:
  ///   - nodes: The nodes of the cluster.
  ///   - onOther: A closure to call after a change of the history.
  init(_ nodes: EtcdNodes, onOther: @escaping @Sendable () -> Void) {
    (self.nodes, self.onOther) = (nodes, onOther)
  }

  /// The latest revision that was seen.
  var revision: Int64 { state.withLock(\.revision) }

  /// Returns `true` for the known cluster.
  func isKnown(_ cluster: String) -> Bool { state.withLock { $0.cluster == cluster } }

  /// Returns `true` for the known cluster, or for any one before the first.
  func admits(_ cluster: String?) -> Bool {
    state.withLock { $0.cluster == nil || [nil, $0.cluster].contains(cluster) }
  }

  /// Takes over the revision of a reply.
  ///
  /// - Parameters:
  ///   - revision: The revision.
  ///   - known: The latest revision that was known before the request. A reply with an older one is from another
  ///     history.
  func see(_ revision: Int64, after known: Int64) {
    let isOther = state.withLock { state in
      // Another operation may have noticed it.
      if revision < known, state.revision >= known {
        state.revision = revision
        return true
      }
      state.revision = max(state.revision, revision)
      return false
    }
    if isOther { onOther() }
  }

  /// Makes sure that all nodes that answer now belong to the same cluster.
  ///
  /// It asks them as long as that is unknown, and again after an answer from another cluster.
  ///
  /// If all of them belong to a new cluster, the known one was restored from a backup. Nodes of
  /// different clusters at the same time have different items.
  ///
  /// - Parameters:
  ///   - answer: A node that has just answered, and its cluster.
  ///   - moment: The moment at which to give up, in microseconds of the monotonic clock.
  /// - Throws: `EtcdFailure` for nodes of different clusters, or for other operations that take too long to find out.
  func compareClusters(
    _ answer: (node: Int, cluster: String)? = nil, until moment: Int64
  ) async throws(EtcdFailure) {
    func isKnown() -> Bool {
      state.withLock { $0.isChecked && (answer == nil || $0.cluster == answer?.cluster) }
    }
    if isKnown() || nodes.endpoints.count == 1 && answer == nil { return }
    let turn = await comparing.take(until: moment)
    guard turn == .ended else {
      throw EtcdFailure(
        cause: turn == .canceled ? .canceled : .timedOut, hasDoubt: answer != nil)
    }
    defer { comparing.giveBack() }
    if isKnown() { return }
    // There must be time left for the request itself.
    let now = ThreadExecutor.now
    var clusters = await clusters(until: now + min(EtcdNodes.patience, max(0, moment - now) / 2))
    // If the task is cancelled, the nodes had no time to answer.
    if Task.isCancelled { throw EtcdFailure(cause: .canceled, hasDoubt: answer != nil) }
    if let answer {
      let now = clusters[answer.node]
      if let now, now != answer.cluster {
        throw EtcdFailure(cause: .lost("the node has another cluster now"), hasDoubt: true)
      }
      clusters[answer.node] = answer.cluster
    }
    guard let cluster = clusters.values.first else { return }
    guard Set(clusters.values).count == 1 else {
      state.withLock { $0.isChecked = false }
      let parts = Dictionary(grouping: clusters.keys.sorted()) { clusters[$0] ?? "" }.values
      throw EtcdFailure(
        cause: .divided(
          parts.map { $0.map { nodes.endpoints[$0].description }.joined(separator: ", ") }.sorted()),
        hasDoubt: answer != nil)
    }
    let isOther = state.withLock { state in
      defer { state = State(cluster: cluster, revision: state.revision, isChecked: true) }
      guard state.cluster != nil, state.cluster != cluster else { return false }
      state.revision = 0
      return true
    }
    if isOther { onOther() }
  }

  /// Returns the clusters of the nodes that answer, by the index of the node.
  private func clusters(until moment: Int64) async -> [Int: String] {
    if nodes.endpoints.count == 1 { return [:] }
    return await withTaskGroup { group in
      for index in nodes.endpoints.indices {
        group.addTask {
          (index, await self.cluster(of: self.nodes.endpoints[index], until: moment))
        }
      }
      return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
    }
  }

  private func cluster(of endpoint: EtcdEndpoint, until moment: Int64) async -> String? {
    let cluster = Mutex<String?>(nil)
    try? await nodes.transport.stream(
      "/v3/watch", GatewayJSON.encode(WatchRequest.identification), to: endpoint, token: nil,
      until: moment
    ) { line in
      let reply = try? GatewayJSON.decode(line) as WatchReply
      cluster.withLock { $0 = reply?.cluster }
      return false
    }
    return cluster.withLock { $0 }
  }
}
#endif
