// SPDX-License-Identifier: Apache-2.0

#if Etcd
struct RangeReply: Decodable, Sendable {
  private let kvs: [KeyValue]?
  private let more: Bool?
  private let count: GatewayInteger?

  var values: [KeyValue] { kvs ?? [] }
  /// `true` for a range with more values than the limit of the request.
  var hasMore: Bool { more ?? false }
  /// The number of values in the range, regardless of limits.
  var total: Int64 { count?.value ?? 0 }
}
#endif
