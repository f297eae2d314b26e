// SPDX-License-Identifier: Apache-2.0

#if Etcd
/// A way to send requests to etcd.
protocol EtcdTransport: Sendable {
  /// Sends a request to a node, and returns the reply.
  ///
  /// - Parameters:
  ///   - path: The path of the call, for example "/v3/kv/txn".
  ///   - body: The request as JSON, or an empty one to get what is at the path.
  ///   - endpoint: The node.
  ///   - token: The token of the user, or `nil` for a request that needs none.
  ///   - moment: The moment at which to give up, in microseconds of the monotonic clock.
  /// - Returns: The reply.
  /// - Throws: `EtcdFailure` in place of a reply.
  func send(
    _ path: String, _ body: [UInt8], to endpoint: EtcdEndpoint, token: String?, until moment: Int64
  ) async throws(EtcdFailure) -> EtcdReply

  /// Sends a request to a node, and passes on each line of the reply up to its end.
  ///
  /// - Parameters:
  ///   - path: The path of the call, for example "/v3/watch".
  ///   - body: The request as JSON.
  ///   - endpoint: The node.
  ///   - token: The token of the user, or `nil` for a request that needs none.
  ///   - moment: The moment up to which the first line must arrive. A proxy may hold back lines.
  ///   - onLine: A closure that gets a line, and returns `false` to end the request.
  /// - Throws: `EtcdFailure` for a reply that is missing, late or cut off.
  func stream(
    _ path: String, _ body: [UInt8], to endpoint: EtcdEndpoint, token: String?, until moment: Int64,
    _ onLine: @escaping @Sendable ([UInt8]) async -> Bool
  ) async throws(EtcdFailure)
}
#endif
