// SPDX-License-Identifier: Apache-2.0

#if Etcd
/// A new lease.
struct LeaseReply: HeadedReply {
  let header: ReplyHeader?
  let id: GatewayInteger
  let seconds: GatewayInteger

  private enum CodingKeys: String, CodingKey {
    case header
    case id = "ID"
    case seconds = "TTL"
  }
}

/// The state of a lease.
struct LeaseState: HeadedReply {
  let header: ReplyHeader?
  /// The seconds that were granted, or `nil` for a lease that has ended.
  let grantedTTL: GatewayInteger?
}
#endif
