// SPDX-License-Identifier: Apache-2.0

#if Etcd
internal import KeyringRuntime

/// A client of a cluster, which finds a node that answers.
///
/// It repeats an unanswered request on another node. Every request of this package can be repeated:
/// those that change items have conditions that only their first copy meets.
final class EtcdClient: Sendable {
  /// A reply, and whether an earlier copy of the request may still be on its way to the cluster.
  struct Answer<Reply: Sendable>: Sendable {
    let reply: Reply
    let hasDoubt: Bool
  }

  let nodes: EtcdNodes
  let tokens: EtcdTokens
  let history: ClusterHistory

  /// Creates a client.
  ///
  /// - Parameters:
  ///   - transport: The way to send requests.
  ///   - endpoints: The addresses of the nodes.
  ///   - user: The user, or `nil` for a cluster with free access.
  ///   - onOtherHistory: A closure to call after the cluster was restored from a backup.
  init(
    _ transport: any EtcdTransport, _ endpoints: [EtcdEndpoint], user: EtcdUser?,
    onOtherHistory: @escaping @Sendable () -> Void = {}
  ) {
    nodes = EtcdNodes(transport, endpoints)
    let tokens = EtcdTokens(user, nodes)
    self.tokens = tokens
    history = ClusterHistory(nodes) {
      tokens.forgetHistory()
      onOtherHistory()
    }
  }

  func transact(
    _ transaction: Transaction, until moment: Int64
  ) async throws(EtcdFailure) -> Answer<TransactionReply> {
    try await call("/v3/kv/txn", transaction, until: moment)
  }

  func grantLease(
    seconds: Int, until moment: Int64
  ) async throws(EtcdFailure) -> (id: Int64, seconds: Int64) {
    let answer: Answer<LeaseReply> = try await call(
      "/v3/lease/grant", ["TTL": seconds], until: moment)
    return (answer.reply.id.value, answer.reply.seconds.value)
  }

  /// Starts the time of a lease again, and returns its seconds, or `nil` for one that has ended.
  func keepAlive(_ lease: Int64, until moment: Int64) async throws(EtcdFailure) -> Int64? {
    let answer: Answer<KeepAliveReply> = try await call(
      "/v3/lease/keepalive", ["ID": lease], until: moment)
    return answer.reply.seconds
  }

  /// Ends a lease, and removes its keys.
  func revoke(_ lease: Int64, until moment: Int64) async throws(EtcdFailure) {
    let _: Answer<HeaderReply> = try await call("/v3/lease/revoke", ["ID": lease], until: moment)
  }

  func hasEnded(_ lease: Int64, until moment: Int64) async throws(EtcdFailure) -> Bool {
    let answer: Answer<LeaseState> = try await call(
      "/v3/lease/timetolive", ["ID": lease], until: moment)
    return answer.reply.grantedTTL == nil
  }

  /// Returns the ranges that the user may read, or `nil` for all.
  func readableRanges(until moment: Int64) async throws(EtcdFailure) -> [EtcdRange]? {
    guard let user = tokens.user else { return nil }
    let reply: Answer<UserReply> = try await call(
      "/v3/auth/user/get", ["name": user.name], until: moment)
    let roles = reply.reply.roles ?? []
    // This role may read everything, which etcd doesn't list.
    if roles.contains("root") { return nil }
    var ranges: [EtcdRange] = []
    for role in roles {
      let reply: Answer<RoleReply> = try await call(
        "/v3/auth/role/get", ["role": role], until: moment)
      ranges += reply.reply.readable
    }
    return ranges
  }

  private func call<Reply: HeadedReply>(
    _ path: String, _ request: some Encodable, until moment: Int64
  ) async throws(EtcdFailure) -> Answer<Reply> {
    let body = GatewayJSON.encode(request)
    var attempts = Attempts(nodeCount: nodes.endpoints.count)
    while true {
      var index = nodes.current
      if Task.isCancelled { throw attempts.failure(.canceled) }
      if ThreadExecutor.now >= moment { throw attempts.failure(attempts.reason ?? .timedOut) }
      var used: String?
      var wasAsked = false
      do throws(EtcdFailure) {
        if attempts.count == 0 { try await history.compareClusters(until: moment) }
        let token = try await tokens.current(within: attempts.time, until: moment)
        // Another operation may have found out in the meantime that the node doesn't answer.
        index = nodes.current
        (used, wasAsked) = (token, true)
        let known = history.revision
        let bytes = try await nodes.transport.send(
          path, body, to: nodes.endpoints[index], token: token,
          until: min(moment, ThreadExecutor.now + attempts.time)
        ).body
        let reply: Reply = try GatewayJSON.decode(bytes)
        try await take(reply, from: index, with: token, after: known, until: moment)
        return Answer(reply: reply, hasDoubt: attempts.hasDoubt)
      } catch {
        let isAboutToken = tokens.user != nil && error.refusal?.isAboutToken == true
        if isAboutToken { tokens.forget(used) }
        if case .timedOut = error.cause { tokens.suspect(used, at: index) }
        switch attempts.step(after: error, isAboutToken: isAboutToken) {
        case .sameNode: continue
        case .end: throw attempts.failure(error.cause)
        case .nextNode: break
        }
        // Without a token, the node that refused it was left already.
        if wasAsked { nodes.rotate(from: index) }
        KeyringEvent.report(
          .nodeLeft(nodes.endpoints[index].description, cause: error.cause.name))
        if let pause = attempts.pauseAfterRound() {
          let end = await Waiter.wait(until: min(moment, ThreadExecutor.now + pause)) { _ in }
          if end == .canceled { throw attempts.failure(.canceled) }
        }
      }
    }
  }

  /// Compares a reply with the history that the client knows.
  ///
  /// - Parameters:
  ///   - reply: The reply.
  ///   - index: The index of the node.
  ///   - used: The token that the request had.
  ///   - known: The latest revision that was known before the request, which a transaction must have.
  ///   - moment: The moment at which to give up, in microseconds of the monotonic clock.
  /// - Throws: `EtcdFailure` for a node of another cluster than the others.
  func take(
    _ reply: some HeadedReply, from index: Int, with used: String?, after known: Int64,
    until moment: Int64
  ) async throws(EtcdFailure) {
    let transaction = reply as? TransactionReply
    if let transaction, transaction.revision <= 0 {
      throw EtcdFailure(cause: .malformed("a reply without a revision"), hasDoubt: true)
    }
    if let used { tokens.noticeAnswer(with: used) }
    if let cluster = reply.header?.cluster, !history.isKnown(cluster) {
      try await history.compareClusters(
        (index, cluster), until: min(moment, .now(plus: .seconds(2))))
    }
    if let transaction { history.see(transaction.revision, after: known) }
  }
}

/// The attempts to get an answer from one of the nodes.
private struct Attempts {
  /// The step after a failure.
  enum Step {
    case sameNode, nextNode, end
  }

  private let nodeCount: Int
  private(set) var count = 0
  /// `true` after an attempt whose request may still be on its way to the cluster.
  private(set) var hasDoubt = false
  /// The time that a node has for its answer, in microseconds.
  ///
  /// In each round over all nodes in which one was late, they have twice as long.
  private(set) var time = EtcdNodes.patience
  /// The most informative failure so far.
  private(set) var reason: EtcdFailure.Cause?
  private var wasLate = false
  private var refusedTokens = 0
  /// The number of wrongly set up nodes in a row.
  private var misfits = 0

  private static let longestTime = EtcdNodes.patience << 10

  /// The time between the first two rounds over all nodes, in microseconds.
  private static let shortestPause: Int64 = 100_000

  init(nodeCount: Int) { self.nodeCount = nodeCount }

  /// Notes the failure of an attempt, and returns what to do.
  mutating func step(after failure: EtcdFailure, isAboutToken: Bool) -> Step {
    hasDoubt = hasDoubt || failure.hasDoubt
    misfits = failure.cause.isOfSetup ? misfits + 1 : 0
    let isFinal: Bool
    switch failure.cause {
    case .refused where isAboutToken:
      refusedTokens += 1
      if refusedTokens == 1 { return .sameNode }
      // Roles may change several times in a row.
      isFinal = refusedTokens > 5
    case .refused(let refusal): isFinal = !refusal.isTransient
    case .canceled, .divided: isFinal = true
    // Another node may be set up correctly.
    case .untrusted, .malformed: isFinal = misfits == nodeCount
    case .timedOut:
      wasLate = true
      isFinal = false
    case .unreachable, .lost: isFinal = false
    }
    if isFinal { return .end }
    count += 1
    if failure.cause.weight >= reason?.weight ?? 0 { reason = failure.cause }
    return .nextNode
  }

  /// Returns the pause after a round over all nodes, in microseconds, or `nil` within a round.
  ///
  /// In the pause, the cluster can elect a leader. It gets more time after each round.
  mutating func pauseAfterRound() -> Int64? {
    guard count.isMultiple(of: nodeCount) else { return nil }
    if wasLate { time = min(2 * time, Self.longestTime) }
    wasLate = false
    return Self.shortestPause << min(count / nodeCount - 1, 3)
  }

  /// Returns the failure of all attempts.
  func failure(_ cause: EtcdFailure.Cause) -> EtcdFailure {
    EtcdFailure(cause: cause, hasDoubt: hasDoubt)
  }
}
#endif
