// SPDX-License-Identifier: Apache-2.0

#if Etcd
internal import KeyringRuntime

extension EtcdClient {
  /// Watches ranges up to a moment or the loss of a connection, and passes on each message.
  ///
  /// - Parameters:
  ///   - ranges: The ranges, with the first revision whose changes are reported.
  ///   - conditions: The conditions that keep up the watch.
  ///   - moment: The moment at which the watch ends, in microseconds of the monotonic clock.
  ///   - renewal: An event that ends the watch before.
  ///   - onReply: A closure that gets a range and a message, and returns `false` to end the watch.
  /// - Returns: `true` for a watch that ended at the moment, with the event or by a condition, or `false` for a lost
  ///   one.
  func watch(
    _ ranges: [EtcdRange: Int64],
    while conditions: [Transaction.Comparison],
    until moment: Int64, or renewal: SharedOutcome<Void>,
    _ onReply: @escaping @Sendable (EtcdRange, WatchReply) async -> Bool
  ) async -> Bool {
    let index = nodes.current
    let endpoint = nodes.endpoints[index]
    guard
      let known = try? await tokens.current(
        from: index, within: EtcdNodes.patience, until: .now(plus: .seconds(10))) ?? ""
    else {
      nodes.rotate(from: index)
      return false
    }
    let token = known.isEmpty ? nil : known
    let isOver = await withTaskGroup { group in
      for (range, revision) in ranges {
        group.addTask {
          try? await self.nodes.transport.stream(
            "/v3/watch", GatewayJSON.encode(WatchRequest(range, from: revision)), to: endpoint,
            token: token, until: .now(plus: .seconds(5))
          ) { line in
            guard let reply = try? GatewayJSON.decode(line) as WatchReply,
              // The items are read again, and with them the history.
              self.history.admits(reply.cluster)
            else { return false }
            return await onReply(range, reply)
          }
          return false
        }
      }
      group.addTask {
        await self.probe(
          Array(ranges.keys), at: index, token, while: conditions, until: moment, or: renewal)
      }
      let isOver = await group.next() ?? false
      group.cancelAll()
      return isOver
    }
    if !isOver { nodes.rotate(from: index) }
    return isOver
  }

  /// Asks a node every five seconds for the first key of each range, or of each of the first 100 ranges.
  ///
  /// A node that is stopped or cut off is silent, and a watch goes on after the user lost the right to it. To
  /// answer, the node must reach the others: one whose disk hangs would still answer what it knows (etcd issue 13527).
  ///
  /// - Returns: `true` at the moment, after the event, after a change of the conditions, or for a new token; `false`
  ///   for a silent node, or for a user who has lost the right to read.
  private func probe(
    _ ranges: [EtcdRange], at index: Int, _ token: String?,
    while conditions: [Transaction.Comparison], until moment: Int64,
    or renewal: SharedOutcome<Void>
  ) async -> Bool {
    let requests = ranges.prefix(Transaction.rangeLimit).map {
      var request = RangeRequest($0.start)
      request.countsOnly = true
      return Transaction.Step.range(request)
    }
    let body = GatewayJSON.encode(Transaction(compare: conditions, success: requests))
    while true {
      let pause = min(moment, .now(plus: .seconds(5)))
      switch await renewal.wait(until: pause) {
      case .ended: return true
      case .canceled, .failed: return false
      case .timedOut: if pause == moment { return true }
      }
      do throws(EtcdFailure) {
        let known = history.revision
        let bytes = try await nodes.transport.send(
          "/v3/kv/txn", body, to: nodes.endpoints[index], token: token,
          until: .now(plus: .seconds(2))
        ).body
        let reply: TransactionReply = try GatewayJSON.decode(bytes)
        try await take(reply, from: index, with: token, after: known, until: moment)
        if !reply.hasSucceeded { return true }
      } catch {
        if case .timedOut = error.cause { tokens.suspect(token, at: index) }
        // With a new token, the watch goes on if the user may still read the ranges.
        guard error.refusal?.isAboutToken == true else { return false }
        tokens.forget(token)
        return true
      }
    }
  }
}
#endif
