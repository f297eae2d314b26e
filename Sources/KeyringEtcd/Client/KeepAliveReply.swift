// SPDX-License-Identifier: Apache-2.0

#if Etcd
/// The answer to the holder of a lease, the first line of a stream.
struct KeepAliveReply: HeadedReply {
  // A node that has lost its leader answers with an error in its place.
  private let result: Content

  var header: ReplyHeader? { result.header }
  /// The seconds that the lease has, or `nil` for one that has ended.
  var seconds: Int64? { result.seconds.flatMap { $0.value > 0 ? $0.value : nil } }

  private struct Content: Decodable, Sendable {
    let header: ReplyHeader?
    let seconds: GatewayInteger?

    private enum CodingKeys: String, CodingKey {
      case header
      case seconds = "TTL"
    }
  }
}
#endif
