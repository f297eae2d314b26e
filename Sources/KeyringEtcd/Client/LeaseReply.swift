// SPDX-License-Identifier: Apache-2.0

#if Etcd
struct LeaseReply: HeadedReply, Decodable {
  let header: ReplyHeader?
  let id: GatewayInteger
  let seconds: GatewayInteger

  private enum CodingKeys: String, CodingKey {
    case header
    case id = "ID"
    case seconds = "TTL"
  }
}
#endif
