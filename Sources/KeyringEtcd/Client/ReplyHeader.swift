// SPDX-License-Identifier: Apache-2.0

#if Etcd
/// A reply whose header tells which cluster has sent it.
///
/// The gateway leaves out each field that is zero, empty or `false`.
protocol HeadedReply: Decodable, Sendable {
  var header: ReplyHeader? { get }
}

/// A reply that has nothing else.
struct HeaderReply: HeadedReply {
  let header: ReplyHeader?
}

struct ReplyHeader: Decodable, Sendable {
  /// The identifier of the cluster.
  let cluster: String?
  private let latest: GatewayInteger?

  private enum CodingKeys: String, CodingKey {
    case cluster = "cluster_id"
    case latest = "revision"
  }

  /// The revision of the database when the request was processed.
  var revision: Int64 { latest?.value ?? 0 }
}
#endif
