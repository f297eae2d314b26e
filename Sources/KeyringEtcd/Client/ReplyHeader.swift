// SPDX-License-Identifier: Apache-2.0

#if Etcd
struct ReplyHeader: Decodable, Sendable {
  /// The identifier of the cluster.
  let cluster: String?
  /// The revision of the database when the request was processed.
  let revision: GatewayInteger?

  private enum CodingKeys: String, CodingKey {
    case revision
    case cluster = "cluster_id"
  }
}

#endif
