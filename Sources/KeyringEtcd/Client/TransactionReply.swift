// SPDX-License-Identifier: Apache-2.0

#if Etcd
struct TransactionReply: HeadedReply {
  let header: ReplyHeader?
  private let succeeded: Bool?
  private let responses: [Response]?

  /// Whether all conditions were met.
  var hasSucceeded: Bool { succeeded ?? false }
  /// The replies to the ranges that were requested, in their order.
  var ranges: [RangeReply] { (responses ?? []).compactMap(\.range) }
  var revision: Int64 { header?.revision ?? 0 }

  private struct Response: Decodable, Sendable {
    let range: RangeReply?

    private enum CodingKeys: String, CodingKey { case range = "response_range" }
  }
}
#endif
