// SPDX-License-Identifier: Apache-2.0

#if Etcd
/// The state of a lease.
struct LeaseState: HeadedReply, Decodable {
  let header: ReplyHeader?
  let id: GatewayInteger
  /// The time to live that was granted, in seconds, or `nil` if the lease has ended.
  let granted: GatewayInteger?

  private enum CodingKeys: String, CodingKey {
    case header
    case id = "ID"
    case granted = "grantedTTL"
  }
}
#endif
