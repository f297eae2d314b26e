// SPDX-License-Identifier: Apache-2.0

#if Etcd
internal import KeyringCore
internal import KeyringRuntime
internal import Synchronization

/// The token of the user, which the nodes give for the password.
final class EtcdTokens: Sendable {
  private struct Token: Sendable {
    let value: String
    /// The indices of the nodes that were silent to a request with it since the last answer.
    var lateNodes: Set<Int> = []
  }

  let user: EtcdUser?
  private let nodes: EtcdNodes
  private let token = Mutex<Token?>(nil)
  /// The moment from which silent nodes may cost a token, in microseconds of the monotonic clock.
  private let nextSuspicion = Atomic<Int64>(0)
  /// The permission to ask for a token, because etcd takes 70 ms of processor time for each.
  private let authenticating = TaskSemaphore(1)

  /// The time between two suspicions about a token, in microseconds.
  private static let suspicionPause: Int64 = 60_000_000

  static let authenticationPath = "/v3/auth/authenticate"

  init(_ user: EtcdUser?, _ nodes: EtcdNodes) { (self.user, self.nodes) = (user, nodes) }

  /// Returns the token of the user, or asks a node for one.
  ///
  /// - Parameters:
  ///   - node: The index of the node, or `nil` for the one that answered last.
  ///   - time: The time that the node has for other requests, in microseconds.
  ///   - moment: The moment at which to give up, in microseconds of the monotonic clock.
  /// - Returns: The token, or `nil` in a cluster with free access.
  /// - Throws: `EtcdFailure` in place of a token.
  func current(
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
    let body = GatewayJSON.encode(["name": user.name, "password": user.password.text ?? ""])
    let index = node ?? nodes.current
    do throws(EtcdFailure) {
      let reply = try await nodes.transport.send(
        Self.authenticationPath, body, to: nodes.endpoints[index], token: nil,
        // A token takes much more processor time than other requests, and many programs may want one.
        until: min(moment, ThreadExecutor.now + 3 * time))
      let answer: UserReply = try GatewayJSON.decode(reply.body)
      guard let new = answer.token else {
        throw EtcdFailure(cause: .malformed("a reply without a token"))
      }
      token.withLock { $0 = Token(value: new) }
      return new
    } catch {
      if node == nil { nodes.rotate(from: index) }
      // Requesting a token changes no items.
      throw EtcdFailure(cause: error.cause)
    }
  }

  /// Notes that a node has answered a request with a token.
  func noticeAnswer(with used: String) {
    token.withLock { if $0?.value == used, $0?.lateNodes != [] { $0?.lateNodes = [] } }
  }

  /// Forgets a token that etcd has refused, but keeps a newer one.
  func forget(_ old: String?) { token.withLock { if $0?.value == old { $0 = nil } } }

  /// Forgets a token to which two nodes in a row were silent, or the only one.
  ///
  /// An unsigned token has the index of an entry in the log of the cluster. After a restore from a backup, a request
  /// with it waits for the log to grow as long as it was. The pause between two suspicions is for slow nodes, which
  /// pay for each new token.
  func suspect(_ old: String?, at index: Int) {
    token.withLock { token in
      guard old != nil, token?.value == old else { return }
      token?.lateNodes.insert(index)
      let now = ThreadExecutor.now
      guard (token?.lateNodes.count ?? 0) >= min(2, nodes.endpoints.count),
        nextSuspicion.load(ordering: .relaxed) <= now
      else { return }
      nextSuspicion.store(now + Self.suspicionPause, ordering: .relaxed)
      token = nil
    }
  }

  /// Forgets the token, because the cluster has another history.
  func forgetHistory() {
    // The token of the new history may have to be forgotten soon, too.
    nextSuspicion.store(0, ordering: .relaxed)
    token.withLock { $0 = nil }
  }
}
#endif
