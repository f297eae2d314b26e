// SPDX-License-Identifier: Apache-2.0

#if Etcd
/// A request for the changes of all keys in a range from a revision on.
struct WatchRequest: Encodable, Sendable {
  private let create: Creation

  private enum CodingKeys: String, CodingKey { case create = "create_request" }

  private struct Creation: Encodable {
    let key: EtcdKey
    let end: EtcdKey
    let start: String
    /// The changes since the revision come in several messages.
    let fragment = true

    private enum CodingKeys: String, CodingKey {
      case key, fragment
      case end = "range_end"
      case start = "start_revision"
    }
  }

  /// A request that each node answers with its cluster, also for a program that lacks a token.
  ///
  /// With users, the node then refuses the watch. The range has only keys of others.
  static let identification = WatchRequest(EtcdRange(EtcdKey("/")), from: 0)

  init(_ range: EtcdRange, from startRevision: Int64) {
    create = Creation(key: range.start, end: range.end, start: "\(startRevision)")
  }
}
#endif
