// SPDX-License-Identifier: Apache-2.0

#if Etcd
internal import KeyringPlatform
internal import KeyringRuntime
internal import KeyringStorage
internal import Synchronization

/// A client of a cluster, which finds a node that answers.
///
/// It repeats a request that got no answer, on another node. Every request of this package can be repeated:
/// those that change items have conditions that only their first copy meets.
final class EtcdClient: Sendable {
  /// A reply, and whether an earlier copy of the request may still be on its way to the cluster.
  struct Answer<Reply: Sendable>: Sendable {
    let reply: Reply
    let hasDoubt: Bool
  }

  private let transport: any EtcdTransport
  private let endpoints: [EtcdEndpoint]
  private let user: EtcdUser?
  /// The index of the node that answered last.
  private let current: Mutex<Int>
  private let token = Mutex<Token?>(nil)
  /// The moment from which a token may be forgotten because nodes don't answer, in microseconds of the monotonic
  /// clock.
  private let nextSuspicion = Atomic<Int64>(0)
  private let history = Mutex(History())
  /// A closure that is called when the cluster has another history, because it was restored from a backup.
  private let onOtherHistory: @Sendable () -> Void
  /// The permission to ask all nodes for their cluster.
  private let comparing = TaskSemaphore(1)
  /// The permission to ask for a token, because etcd takes 70 ms of processor time for each.
  private let authenticating = TaskSemaphore(1)

  private struct Token: Sendable {
    let value: String
    /// The indices of the nodes that haven't answered a request with it since the last answer.
    var lateNodes: Set<Int> = []
  }

  struct Authentication: Decodable {
    let token: String
  }

  /// The history that all replies belong to, as far as it's known.
  private struct History: Sendable {
    /// The identifier of the cluster.
    var cluster: String?
    /// The latest revision that was seen.
    var revision: Int64 = 0
    /// Whether no node that answers belongs to another cluster.
    var isChecked = false
  }

  /// The time that a node has for its answer before another one is asked, in microseconds.
  private static let patience: Int64 = 1_000_000

  private static let longestPatience = patience << 10

  /// The time between two suspicions about a token, in microseconds.
  private static let suspicionPause: Int64 = 60_000_000

  /// The time between the first two rounds over all nodes, in microseconds.
  private static let shortestPause: Int64 = 100_000

  init(
    _ transport: any EtcdTransport, _ endpoints: [EtcdEndpoint], user: EtcdUser?,
    onOtherHistory: @escaping @Sendable () -> Void = {}
  ) {
    (self.transport, self.endpoints, self.user) = (transport, endpoints, user)
    self.onOtherHistory = onOtherHistory
    // Different processes ask different nodes.
    current = Mutex(Int.random(in: 0..<max(1, endpoints.count)))
  }

  func transact(
    _ transaction: Transaction, until moment: Int64
  ) async throws(EtcdFailure) -> Answer<TransactionReply> {
    try await call("/v3/kv/txn", transaction, until: moment)
  }

  func grantLease(seconds: Int, until moment: Int64) async throws(EtcdFailure) -> LeaseReply {
    let answer: Answer<LeaseReply> = try await call(
      "/v3/lease/grant", ["TTL": seconds], until: moment)
    return answer.reply
  }

  func hasEnded(_ lease: Int64, until moment: Int64) async throws(EtcdFailure) -> Bool {
    let answer: Answer<LeaseState> = try await call(
      "/v3/lease/timetolive", ["ID": lease], until: moment)
    return answer.reply.granted == nil
  }

  /// Returns the ranges that the user may read, or `nil` if there is no limit.
  func readableRanges(until moment: Int64) async throws(EtcdFailure) -> [EtcdRange]? {
    guard let user else { return nil }
    let reply: Answer<UserReply> = try await call(
      "/v3/auth/user/get", ["name": user.name], until: moment)
    // This role may read everything, which etcd doesn't list.
    if reply.reply.roles?.contains("root") == true { return nil }
    var ranges: [EtcdRange] = []
    for role in reply.reply.roles ?? [] {
      let reply: Answer<RoleReply> = try await call(
        "/v3/auth/role/get", ["role": role], until: moment)
      ranges += reply.reply.readable
    }
    return ranges
  }

  private func call<Reply: HeadedReply>(
    _ path: String, _ request: some Encodable, until moment: Int64
  ) async throws(EtcdFailure) -> Answer<Reply> {
    let body = Self.encode(request)
    var hasDoubt = false
    var attempt = 0
    var refusedTokens = 0
    /// The number of nodes in a row that aren't set up correctly.
    var misfits = 0
    // In each round over all nodes in which one was late, they have twice as long.
    var (time, wasLate) = (Self.patience, false)
    /// The most informative failure so far.
    var reason: EtcdFailure.Cause?
    while true {
      var index = current.withLock { $0 }
      if Task.isCancelled { throw EtcdFailure(cause: .canceled, hasDoubt: hasDoubt) }
      if ThreadExecutor.now >= moment {
        throw EtcdFailure(cause: reason ?? .timedOut, hasDoubt: hasDoubt)
      }
      var used: String?
      var wasAsked = false
      do throws(EtcdFailure) {
        if attempt == 0 { try await compareClusters(until: moment) }
        let token = try await currentToken(within: time, until: moment)
        // Another operation may have found out in the meantime that the node doesn't answer.
        index = current.withLock { $0 }
        (used, wasAsked) = (token, true)
        let known = history.withLock(\.revision)
        let bytes = try await transport.send(
          path, body, to: endpoints[index], token: token,
          until: min(moment, ThreadExecutor.now + time)
        ).body
        let reply: Reply = try Self.decode(bytes)
        try await take(reply, from: index, with: token, after: known, until: moment)
        return Answer(reply: reply, hasDoubt: hasDoubt)
      } catch {
        hasDoubt = hasDoubt || error.hasDoubt
        misfits = error.cause.isOfSetup ? misfits + 1 : 0
        let isFinal: Bool
        switch error.cause {
        case .refused(let refusal) where refusal.isAboutToken && user != nil:
          forget(used)
          refusedTokens += 1
          if refusedTokens == 1 { continue }
          // Roles may change several times in a row.
          isFinal = refusedTokens > 5
        case .refused(let refusal): isFinal = !refusal.isTransient
        case .canceled, .divided: isFinal = true
        // Another node may be set up correctly.
        case .untrusted, .malformed: isFinal = misfits == endpoints.count
        case .timedOut:
          wasLate = true
          suspect(used, at: index)
          isFinal = false
        case .unreachable, .lost: isFinal = false
        }
        if isFinal { throw EtcdFailure(cause: error.cause, hasDoubt: hasDoubt) }
        attempt += 1
        if error.cause.weight >= reason?.weight ?? 0 { reason = error.cause }
        // Without a token, the node that refused it was left already.
        if wasAsked { rotate(from: index) }
        // After each round, the cluster gets time to elect a leader, and more of it each time.
        if attempt % endpoints.count == 0 {
          if wasLate { time = min(2 * time, Self.longestPatience) }
          wasLate = false
          let time = Self.shortestPause << min(attempt / endpoints.count - 1, 3)
          let pause = await Waiter.wait(until: min(moment, ThreadExecutor.now + time)) { _ in }
          if pause == .canceled { throw EtcdFailure(cause: .canceled, hasDoubt: hasDoubt) }
        }
      }
    }
  }

  // MARK: - History

  /// Makes sure that all nodes that answer now belong to the same cluster, unless that's known.
  ///
  /// If none of them belongs to the cluster that the client has known, that one was restored from a backup. Nodes of
  /// different clusters at the same time have different items.
  ///
  /// - Parameters:
  ///   - answer: A node that has just answered, and its cluster.
  ///   - moment: The moment at which to give up, in microseconds of the monotonic clock.
  /// - Throws: `EtcdFailure` if the nodes belong to different clusters, or if other operations take too long to find
  ///   out.
  private func compareClusters(
    _ answer: (node: Int, cluster: String)? = nil, until moment: Int64
  ) async throws(EtcdFailure) {
    func isKnown() -> Bool {
      history.withLock { $0.isChecked && (answer == nil || $0.cluster == answer?.cluster) }
    }
    if isKnown() || endpoints.count == 1 && answer == nil { return }
    let turn = await comparing.take(until: moment)
    guard turn == .ended else {
      throw EtcdFailure(
        cause: turn == .canceled ? .canceled : .timedOut, hasDoubt: answer != nil)
    }
    defer { comparing.giveBack() }
    if isKnown() { return }
    // There must be time left for the request itself.
    let now = ThreadExecutor.now
    var clusters = await clusters(until: now + min(Self.patience, max(0, moment - now) / 2))
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
      history.withLock { $0.isChecked = false }
      let parts = Dictionary(grouping: clusters.keys.sorted()) { clusters[$0] ?? "" }.values
      throw EtcdFailure(
        cause: .divided(
          parts.map { $0.map { endpoints[$0].description }.joined(separator: ", ") }.sorted()),
        hasDoubt: answer != nil)
    }
    let isOther = history.withLock { history in
      defer { history = History(cluster: cluster, revision: history.revision, isChecked: true) }
      guard history.cluster != nil, history.cluster != cluster else { return false }
      history.revision = 0
      return true
    }
    if isOther { forgetHistory() }
  }

  /// Returns the clusters of the nodes that answer, by the index of the node.
  private func clusters(until moment: Int64) async -> [Int: String] {
    if endpoints.count == 1 { return [:] }
    return await withTaskGroup { group in
      for index in endpoints.indices {
        group.addTask { (index, await self.cluster(of: self.endpoints[index], until: moment)) }
      }
      return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
    }
  }

  private func cluster(of endpoint: EtcdEndpoint, until moment: Int64) async -> String? {
    let cluster = Mutex<String?>(nil)
    try? await transport.stream(
      "/v3/watch", Self.encode(WatchRequest.identification), to: endpoint, token: nil,
      until: moment
    ) { line in
      let reply = try? Self.decode(line) as WatchReply
      cluster.withLock { $0 = reply?.cluster }
      return false
    }
    return cluster.withLock { $0 }
  }

  /// Looks whether a reply belongs to the history that the client knows.
  ///
  /// - Parameters:
  ///   - reply: The reply.
  ///   - index: The index of the node.
  ///   - used: The token that the request had.
  ///   - known: The latest revision that was known when the request was sent, which a transaction must have.
  ///   - moment: The moment at which to give up, in microseconds of the monotonic clock.
  /// - Throws: `EtcdFailure` if the node belongs to another cluster than those that answer, too.
  private func take(
    _ reply: some HeadedReply, from index: Int, with used: String?, after known: Int64,
    until moment: Int64
  ) async throws(EtcdFailure) {
    let transaction = reply as? TransactionReply
    if let transaction, transaction.revision <= 0 {
      throw EtcdFailure(cause: .malformed("a reply without a revision"), hasDoubt: true)
    }
    if used != nil {
      token.withLock { if $0?.value == used, $0?.lateNodes != [] { $0?.lateNodes = [] } }
    }
    if let cluster = reply.header?.cluster, history.withLock({ $0.cluster != cluster }) {
      try await compareClusters((index, cluster), until: min(moment, .now(plus: .seconds(2))))
    }
    guard let transaction else { return }
    let isOther = history.withLock { history in
      // Another operation may have noticed it.
      if transaction.revision < known, history.revision >= known {
        history.revision = transaction.revision
        return true
      }
      history.revision = max(history.revision, transaction.revision)
      return false
    }
    if isOther { forgetHistory() }
  }

  private func forgetHistory() {
    // The token of the new history may have to be forgotten soon, too.
    nextSuspicion.store(0, ordering: .relaxed)
    token.withLock { $0 = nil }
    onOtherHistory()
  }

  // MARK: - Diagnosis

  /// A node, and its answers.
  struct Node: Sendable {
    let endpoint: EtcdEndpoint
    let status: Result<StatusReply, EtcdFailure>
    /// The least number of seconds by which its clock is ahead of this machine's, or a negative number if it's
    /// behind.
    var clockLead: TimeInterval = 0
    /// Whether it refuses requests of the size that was asked about.
    var refusesSize = false
  }

  /// Asks each node for its state.
  ///
  /// - Parameter size: The number of bytes of the largest request that the nodes have to accept, or `nil` if it
  ///   isn't checked.
  /// - Returns: The nodes with their answers.
  func nodes(accepting size: Int?) async -> [Node] {
    var nodes: [Node] = []
    let largest = size.map { Self.encode(Transaction.sizeProbe(for: $0)) }
    for (index, endpoint) in endpoints.enumerated() {
      do throws(EtcdFailure) {
        let token = try await currentToken(
          from: index, within: Self.patience, until: .now(plus: .seconds(5)))
        let start = Date()
        let (status, reply) = try await status(of: endpoint, token)
        var node = Node(endpoint: endpoint, status: .success(status))
        node.clockLead = reply.clockLead(from: start, to: Date())
        if let largest { node.refusesSize = await refusesSize(of: largest, endpoint, token) }
        nodes.append(node)
      } catch {
        nodes.append(Node(endpoint: endpoint, status: .failure(error)))
      }
    }
    return nodes
  }

  /// Returns the state of a node, or its version and whether its database is full if the user may not read the state.
  ///
  /// Since etcd 3.5.28, only an administrator may.
  private func status(
    of endpoint: EtcdEndpoint, _ token: String?
  ) async throws(EtcdFailure) -> (StatusReply, EtcdReply) {
    // A slow node isn't one that is gone.
    var end: Int64 { ThreadExecutor.now + 3 * Self.patience }
    do throws(EtcdFailure) {
      let reply = try await transport.send(
        "/v3/maintenance/status", Array("{}".utf8), to: endpoint, token: token, until: end)
      return (try Self.decode(reply.body), reply)
    } catch {
      guard error.refusal?.isDenial == true else { throw error }
      let reply = try await transport.send("/version", [], to: endpoint, token: nil, until: end)
      let version: StatusReply.Version = try Self.decode(reply.body)
      return (StatusReply(version, alarms: await isFull(endpoint) ? ["NOSPACE"] : []), reply)
    }
  }

  /// Returns `true` if a node reports as a reason for its bad health that its database is full.
  private func isFull(_ endpoint: EtcdEndpoint) async -> Bool {
    do throws(EtcdFailure) {
      _ = try await transport.send(
        "/health", [], to: endpoint, token: nil, until: ThreadExecutor.now + 3 * Self.patience)
      return false
    } catch {
      guard case .lost(let text) = error.cause else { return false }
      return text.contains("NOSPACE")
    }
  }

  /// Returns `true` if a node refuses a request because of its size.
  private func refusesSize(
    of body: [UInt8], _ endpoint: EtcdEndpoint, _ token: String?
  ) async -> Bool {
    do throws(EtcdFailure) {
      _ = try await transport.send(
        "/v3/kv/txn", body, to: endpoint, token: token,
        until: ThreadExecutor.now + 3 * Self.patience)
      return false
    } catch {
      return error.refusal?.isTooLarge == true
    }
  }

  // MARK: - Watching

  /// Watches ranges until a moment or until a connection is lost, and passes on each message.
  ///
  /// - Parameters:
  ///   - ranges: The ranges, with the first revision whose changes are reported.
  ///   - conditions: The conditions without which the watch ends.
  ///   - moment: The moment at which the watch ends, in microseconds of the monotonic clock.
  ///   - renewal: An event that ends the watch before.
  ///   - onReply: A closure that gets a range and a message, and returns `false` to end the watch.
  /// - Returns: `true` if the watch ended at the moment, with the event or by a condition, or `false` if it was lost.
  func watch(
    _ ranges: [EtcdRange: Int64],
    while conditions: [Transaction.Comparison],
    until moment: Int64, or renewal: SharedOutcome<Void>,
    _ onReply: @escaping @Sendable (EtcdRange, WatchReply) async -> Bool
  ) async -> Bool {
    let index = current.withLock { $0 }
    let endpoint = endpoints[index]
    guard
      let known = try? await currentToken(
        from: index, within: Self.patience, until: .now(plus: .seconds(10))) ?? ""
    else {
      rotate(from: index)
      return false
    }
    let token = known.isEmpty ? nil : known
    let isOver = await withTaskGroup { group in
      for (range, revision) in ranges {
        group.addTask {
          try? await self.transport.stream(
            "/v3/watch", Self.encode(WatchRequest(range, from: revision)), to: endpoint,
            token: token, until: .now(plus: .seconds(5))
          ) { line in
            guard let reply = try? Self.decode(line) as WatchReply,
              // The items are read again, and with them the history.
              self.history.withLock({
                $0.cluster == nil || [nil, $0.cluster].contains(reply.cluster)
              })
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
    if !isOver { rotate(from: index) }
    return isOver
  }

  /// Asks a node every five seconds for the first key of each range, or of each of the first 100 ranges.
  ///
  /// A node that is stopped, or that the network no longer reaches, is silent, and a watch goes on after the
  /// user lost the right to it. To answer, the node must reach the others: one whose disk hangs would still answer
  /// what it knows (etcd issue 13527).
  ///
  /// - Returns: `true` at the moment, after the event, if a condition isn't met, or if the watch needs a new
  ///   token, or `false` if the node doesn't answer or if the user may no longer read the ranges.
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
    let body = Self.encode(Transaction(compare: conditions, success: requests))
    while true {
      let pause = min(moment, .now(plus: .seconds(5)))
      switch await renewal.wait(until: pause) {
      case .ended: return true
      case .canceled, .failed: return false
      case .timedOut: if pause == moment { return true }
      }
      do throws(EtcdFailure) {
        let known = history.withLock(\.revision)
        let bytes = try await transport.send(
          "/v3/kv/txn", body, to: endpoints[index], token: token, until: .now(plus: .seconds(2))
        ).body
        let reply: TransactionReply = try Self.decode(bytes)
        try await take(reply, from: index, with: token, after: known, until: moment)
        if !reply.hasSucceeded { return true }
      } catch {
        if case .timedOut = error.cause { suspect(token, at: index) }
        // With a new token, the watch goes on if the user may still read the ranges.
        guard error.refusal?.isAboutToken == true else { return false }
        forget(token)
        return true
      }
    }
  }

  /// Forgets a token that etcd doesn't accept any more, unless there is a newer one.
  private func forget(_ old: String?) { token.withLock { if $0?.value == old { $0 = nil } } }

  /// Forgets a token with which two nodes in a row haven't answered, or the only one.
  ///
  /// A token that isn't signed has the index of an entry in the log of the cluster. If the cluster was restored
  /// from a backup, a request with it waits until the log is as long as it was. Nodes that are only slow would become
  /// slower if every program asked for tokens all the time.
  private func suspect(_ old: String?, at index: Int) {
    token.withLock { token in
      guard old != nil, token?.value == old else { return }
      token?.lateNodes.insert(index)
      let now = ThreadExecutor.now
      guard (token?.lateNodes.count ?? 0) >= min(2, endpoints.count),
        nextSuspicion.load(ordering: .relaxed) <= now
      else { return }
      nextSuspicion.store(now + Self.suspicionPause, ordering: .relaxed)
      token = nil
    }
  }

  private func rotate(from index: Int) {
    current.withLock { if $0 == index { $0 = (index + 1) % endpoints.count } }
  }

  // MARK: - Authentication

  static let authenticationPath = "/v3/auth/authenticate"

  /// Returns the token of the user, or asks a node for one.
  ///
  /// - Parameters:
  ///   - node: The index of the node, or `nil` for the one that answered last.
  ///   - time: The time that the node has for other requests, in microseconds.
  ///   - moment: The moment at which to give up, in microseconds of the monotonic clock.
  /// - Returns: The token, or `nil` if the cluster has no users.
  /// - Throws: `EtcdFailure` if there is no token.
  private func currentToken(
    from node: Int? = nil, within time: Int64, until moment: Int64
  ) async throws(EtcdFailure) -> String? {
    guard let user else { return nil }
    if let known = token.withLock({ $0?.value }) { return known }
    let turn = await authenticating.take(until: moment)
    guard turn == .ended else {
      throw EtcdFailure(cause: turn == .canceled ? .canceled : .timedOut)
    }
    defer { authenticating.giveBack() }
    if let known = token.withLock({ $0?.value }) { return known }
    let body = Self.encode(["name": user.name, "password": user.password.text ?? ""])
    let index = node ?? current.withLock { $0 }
    do throws(EtcdFailure) {
      let reply = try await transport.send(
        Self.authenticationPath, body, to: endpoints[index], token: nil,
        // A token takes much more processor time than other requests, and many programs may want one.
        until: min(moment, ThreadExecutor.now + 3 * time))
      let new = try (Self.decode(reply.body) as Authentication).token
      token.withLock { $0 = Token(value: new) }
      return new
    } catch {
      if node == nil { rotate(from: index) }
      // Requesting a token changes no items.
      throw EtcdFailure(cause: error.cause)
    }
  }

  // MARK: - JSON

  /// Returns a request as JSON, with the same bytes each time.
  static func encode(_ request: some Encodable) -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // JSON has no infinity, and no request contains it.
    guard let data = try? encoder.encode(request) else {
      preconditionFailure("requests consist of text and numbers")
    }
    return Array(data)
  }

  static let decoder = JSONDecoder()

  private static func decode<Reply: Decodable>(_ bytes: [UInt8]) throws(EtcdFailure) -> Reply {
    try decode { try decoder.decode(Reply.self, from: Data(bytes)) }
  }

  private static func decode<Reply: HeadedReply>(_ bytes: [UInt8]) throws(EtcdFailure) -> Reply {
    try decode { try Reply(json: bytes) }
  }

  private static func decode<Reply>(_ body: () throws -> Reply) throws(EtcdFailure) -> Reply {
    do {
      return try body()
    } catch {
      throw EtcdFailure(
        cause: .malformed("a reply without the expected fields"), hasDoubt: true)
    }
  }
}
#endif
