// SPDX-License-Identifier: Apache-2.0

#if Etcd
internal import KeyringFoundation
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
  private let token = Mutex<String?>(nil)
  /// The permission to ask for a token, because etcd takes 70 ms of processor time for each.
  private let authenticating = TaskSemaphore(1)

  /// The time that a node has for its answer before another one is asked, in microseconds.
  private static let patience: Int64 = 1_000_000

  /// The time between the first two rounds over all nodes, in microseconds.
  private static let shortestPause: Int64 = 100_000

  init(_ transport: any EtcdTransport, _ endpoints: [EtcdEndpoint], user: EtcdUser?) {
    (self.transport, self.endpoints, self.user) = (transport, endpoints, user)
    // Different processes ask different nodes.
    current = Mutex(Int.random(in: 0..<max(1, endpoints.count)))
  }

  func transact(
    _ transaction: Transaction, until moment: Int64
  ) async throws(EtcdFailure) -> Answer<TransactionReply> {
    try await call("/v3/kv/txn", transaction, until: moment)
  }

  func grantLease(_ request: LeaseRequest, until moment: Int64) async throws(EtcdFailure)
    -> LeaseReply
  {
    try await (call("/v3/lease/grant", request, until: moment) as Answer<LeaseReply>).reply
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

  private func call<Reply: Decodable & Sendable>(
    _ path: String, _ request: some Encodable, until moment: Int64
  ) async throws(EtcdFailure) -> Answer<Reply> {
    let body = Self.encode(request)
    var hasDoubt = false
    var attempt = 0
    var refusedTokens = 0
    /// The number of nodes in a row that aren't set up correctly.
    var misfits = 0
    /// The most informative failure so far.
    var reason: EtcdFailure.Cause?
    while true {
      var index = current.withLock { $0 }
      if Task.isCancelled { throw EtcdFailure(cause: .canceled, hasDoubt: hasDoubt) }
      if ThreadExecutor.now >= moment {
        throw EtcdFailure(cause: reason ?? .timedOut, hasDoubt: hasDoubt)
      }
      // In each round over all nodes, they have twice as long.
      let time = Self.patience << min(attempt / endpoints.count, 10)
      var used: String?
      var wasAsked = false
      do throws(EtcdFailure) {
        let token = try await currentToken(within: time, until: moment)
        // Another operation may have found out in the meantime that the node doesn't answer.
        index = current.withLock { $0 }
        (used, wasAsked) = (token, true)
        let reply = try await transport.send(
          path, body, to: endpoints[index], token: token,
          until: min(moment, ThreadExecutor.now + time))
        return Answer(reply: try Self.decode(reply.body), hasDoubt: hasDoubt)
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
        case .canceled: isFinal = true
        // Another node may be set up correctly.
        case .untrusted, .malformed: isFinal = misfits == endpoints.count
        case .unreachable, .lost, .timedOut: isFinal = false
        }
        if isFinal { throw EtcdFailure(cause: error.cause, hasDoubt: hasDoubt) }
        attempt += 1
        if error.cause.weight >= reason?.weight ?? 0 { reason = error.cause }
        // Without a token, the node that refused it was left already.
        if wasAsked { rotate(from: index) }
        // After each round, the cluster gets time to elect a leader, and more of it each time.
        if attempt % endpoints.count == 0 {
          let time = Self.shortestPause << min(attempt / endpoints.count - 1, 3)
          let pause = await Waiter.wait(until: min(moment, ThreadExecutor.now + time)) { _ in }
          if pause == .canceled { throw EtcdFailure(cause: .canceled, hasDoubt: hasDoubt) }
        }
      }
    }
  }

  // MARK: - Diagnosis

  /// A node, and its answers.
  struct Node: Sendable {
    let endpoint: EtcdEndpoint
    let status: Result<StatusReply, EtcdFailure>
    /// The least number of seconds by which its clock is ahead of this machine's, or a negative number if it's
    /// behind.
    var clockLead: TimeInterval = 0
    /// Indicates whether it refuses requests of the size that was asked about.
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
        let reply = try await transport.send(
          "/v3/maintenance/status", Array("{}".utf8), to: endpoint, token: token,
          // A slow node isn't one that is gone.
          until: ThreadExecutor.now + 3 * Self.patience)
        var node = Node(endpoint: endpoint, status: .success(try Self.decode(reply.body)))
        node.clockLead = reply.clockLead(from: start, to: Date())
        if let largest { node.refusesSize = await refusesSize(of: largest, endpoint, token) }
        nodes.append(node)
      } catch {
        nodes.append(Node(endpoint: endpoint, status: .failure(error)))
      }
    }
    return nodes
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
            guard let reply = try? Self.decode(line) as WatchReply else { return false }
            return await onReply(range, reply)
          }
          return false
        }
      }
      group.addTask {
        await self.probe(
          Array(ranges.keys), at: endpoint, token, while: conditions, until: moment, or: renewal)
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
    _ ranges: [EtcdRange], at endpoint: EtcdEndpoint, _ token: String?,
    while conditions: [Transaction.Comparison], until moment: Int64,
    or renewal: SharedOutcome<Void>
  ) async -> Bool {
    let requests = ranges.prefix(Transaction.rangeLimit).map {
      var request = RangeRequest($0.start)
      request.countsOnly = true
      return Transaction.Operation.range(request)
    }
    let body = Self.encode(Transaction(compare: conditions, success: requests))
    while true {
      let pause = min(moment, .now(plus: .seconds(5)))
      switch await renewal.wait(until: pause) {
      case .ended: return true
      case .canceled: return false
      case .timedOut: if pause == moment { return true }
      }
      do throws(EtcdFailure) {
        let reply = try await transport.send(
          "/v3/kv/txn", body, to: endpoint, token: token, until: .now(plus: .seconds(2)))
        if !(try Self.decode(reply.body) as TransactionReply).hasSucceeded { return true }
      } catch {
        // With a new token, the watch goes on if the user may still read the ranges.
        guard error.refusal?.isAboutToken == true else { return false }
        forget(token)
        return true
      }
    }
  }

  /// Forgets a token that etcd doesn't accept any more, unless there is a newer one.
  private func forget(_ old: String?) { token.withLock { if $0 == old { $0 = nil } } }

  private func rotate(from index: Int) {
    current.withLock { if $0 == index { $0 = (index + 1) % endpoints.count } }
  }

  // MARK: - Authentication

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
    if let known = token.withLock({ $0 }) { return known }
    let turn = await authenticating.take(until: moment)
    guard turn == .ended else {
      throw EtcdFailure(cause: turn == .canceled ? .canceled : .timedOut)
    }
    defer { authenticating.giveBack() }
    if let known = token.withLock({ $0 }) { return known }
    let body = Self.encode(
      AuthenticationRequest(name: user.name, password: user.password.text ?? ""))
    let index = node ?? current.withLock { $0 }
    do throws(EtcdFailure) {
      let reply = try await transport.send(
        "/v3/auth/authenticate", body, to: endpoints[index], token: nil,
        // A token takes much more processor time than other requests, and many programs may want one.
        until: min(moment, ThreadExecutor.now + 3 * time))
      let new = try (Self.decode(reply.body) as AuthenticationReply).token
      token.withLock { $0 = new }
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

  private static let decoder = JSONDecoder()

  private static func decode<Reply: Decodable>(_ bytes: [UInt8]) throws(EtcdFailure) -> Reply {
    do {
      return try decoder.decode(Reply.self, from: Data(bytes))
    } catch {
      throw EtcdFailure(
        cause: .malformed("a reply without the expected fields"), hasDoubt: true)
    }
  }
}

extension EtcdFailure.Cause {
  /// Indicates whether the node isn't set up correctly, or this program isn't.
  fileprivate var isOfSetup: Bool {
    switch self {
    case .untrusted, .malformed: true
    default: false
    }
  }

  /// A number that is higher if the failure says more about the cluster.
  ///
  /// An answer says more than a lost connection. The last attempt has often too little time.
  fileprivate var weight: Int {
    switch self {
    case .timedOut, .canceled: 0
    case .unreachable: 1
    case .lost, .untrusted: 2
    case .refused, .malformed: 3
    }
  }
}

extension GatewayError {
  /// Indicates whether the cluster may answer soon.
  ///
  /// The request may have been processed, or may be later.
  var isTransient: Bool {
    // A request is refused for its token before it's processed.
    if isAboutToken { return false }
    return [1, 2, 4, 13, 14].contains(code) || code == 8 && message.contains("too many requests")
  }

  /// The refusal of a request that has more bytes than the node accepts.
  static let tooLarge = GatewayError(code: 3, message: "etcdserver: request is too large")

  /// Indicates whether the request has more bytes than the node accepts.
  var isTooLarge: Bool {
    message.contains("request is too large") || message.contains("larger than max")
  }

  /// Indicates whether a new token helps.
  ///
  /// etcd 3.5.1 answers a signed token (JWT) that is older than the roles with the code of an unknown error.
  var isAboutToken: Bool {
    code == 16 || code == 3 && message.contains("revision of auth store is old")
      || code == 2 && message.contains("auth: revision in header is old")
  }
}
#endif
