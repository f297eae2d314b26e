// SPDX-License-Identifier: Apache-2.0

#if Etcd
/// A reply whose header tells which cluster has sent it.
protocol HeadedReply: Decodable, Sendable {
  var header: ReplyHeader? { get }
}
#endif
