// SPDX-License-Identifier: Apache-2.0

#if Etcd
internal import KeyringPlatform
internal import KeyringRuntime

extension EtcdClient {
  /// A node, and its answers.
  struct Node: Sendable {
    let endpoint: EtcdEndpoint
    let status: Result<StatusReply, EtcdFailure>
    /// The least number of seconds by which its clock is ahead of this machine's, negative for one that is behind.
    var clockLead: TimeInterval = 0
    /// `true` for a node that refuses requests of the size that was asked about.
    var refusesSize = false
  }

  /// Asks each node for its state.
  ///
  /// - Parameter size: The number of bytes of the largest request that the nodes have to accept, or `nil` to
  ///   skip the check.
  /// - Returns: The nodes with their answers.
  func nodes(accepting size: Int?) async -> [Node] {
    var found: [Node] = []
    let largest = size.map { GatewayJSON.encode(Transaction.sizeProbe(for: $0)) }
    for (index, endpoint) in nodes.endpoints.enumerated() {
      do throws(EtcdFailure) {
        let token = try await tokens.current(
          from: index, within: EtcdNodes.patience, until: .now(plus: .seconds(5)))
        let start = Date()
        let (status, reply) = try await status(of: endpoint, token)
        var node = Node(endpoint: endpoint, status: .success(status))
        node.clockLead = reply.clockLead(from: start, to: Date())
        if let largest {
          let failure = await failure(of: "/v3/kv/txn", largest, endpoint, token)
          node.refusesSize = failure?.refusal?.isTooLarge == true
        }
        found.append(node)
      } catch {
        found.append(Node(endpoint: endpoint, status: .failure(error)))
      }
    }
    return found
  }

  /// Returns the state of a node, of which an ordinary user gets only the version and the alarm of a full database.
  ///
  /// Since etcd 3.5.28, only an administrator may.
  private func status(
    of endpoint: EtcdEndpoint, _ token: String?
  ) async throws(EtcdFailure) -> (StatusReply, EtcdReply) {
    // A slow node isn't one that is gone.
    var end: Int64 { ThreadExecutor.now + 3 * EtcdNodes.patience }
    do throws(EtcdFailure) {
      let reply = try await nodes.transport.send(
        "/v3/maintenance/status", Array("{}".utf8), to: endpoint, token: token, until: end)
      return (try GatewayJSON.decode(reply.body), reply)
    } catch {
      guard error.refusal?.isDenial == true else { throw error }
      let reply = try await nodes.transport.send(
        "/version", [], to: endpoint, token: nil, until: end)
      var status: StatusReply = try GatewayJSON.decode(reply.body)
      // A full database is the reason for bad health.
      if case .lost(let text)? = await failure(of: "/health", [], endpoint, nil)?.cause,
        text.contains("NOSPACE")
      {
        status.alarms = ["NOSPACE"]
      }
      return (status, reply)
    }
  }

  /// Returns the failure of a request to a node, or `nil` for one that it answers.
  private func failure(
    of path: String, _ body: [UInt8], _ endpoint: EtcdEndpoint, _ token: String?
  ) async -> EtcdFailure? {
    do throws(EtcdFailure) {
      _ = try await nodes.transport.send(
        path, body, to: endpoint, token: token,
        until: ThreadExecutor.now + 3 * EtcdNodes.patience)
      return nil
    } catch {
      return error
    }
  }
}
#endif
