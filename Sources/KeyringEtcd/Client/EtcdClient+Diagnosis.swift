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
        if let largest { node.refusesSize = await refusesSize(of: largest, endpoint, token) }
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
      if await isFull(endpoint) { status.alarms = ["NOSPACE"] }
      return (status, reply)
    }
  }

  /// Returns `true` for a node that reports a full database as the reason for its bad health.
  private func isFull(_ endpoint: EtcdEndpoint) async -> Bool {
    do throws(EtcdFailure) {
      _ = try await nodes.transport.send(
        "/health", [], to: endpoint, token: nil, until: ThreadExecutor.now + 3 * EtcdNodes.patience)
      return false
    } catch {
      guard case .lost(let text) = error.cause else { return false }
      return text.contains("NOSPACE")
    }
  }

  /// Returns `true` for a node that refuses a request because of its size.
  private func refusesSize(
    of body: [UInt8], _ endpoint: EtcdEndpoint, _ token: String?
  ) async -> Bool {
    do throws(EtcdFailure) {
      _ = try await nodes.transport.send(
        "/v3/kv/txn", body, to: endpoint, token: token,
        until: ThreadExecutor.now + 3 * EtcdNodes.patience)
      return false
    } catch {
      return error.refusal?.isTooLarge == true
    }
  }
}
#endif
