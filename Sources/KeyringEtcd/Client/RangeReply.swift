// SPDX-License-Identifier: Apache-2.0

#if Etcd
struct RangeReply: JSONReadable, Sendable {
  private(set) var values: [KeyValue] = []
  /// `true` for a range with more values than the limit of the request.
  private(set) var hasMore = false
  /// The number of values in the range, regardless of limits.
  private(set) var total: Int64 = 0

  init(_ reader: inout JSONReader) throws(JSONReader.Malformed) {
    try reader.object { (name, reader) throws(JSONReader.Malformed) in
      switch name {
      case "kvs": values = try reader.array()
      case "more": hasMore = try reader.bool()
      case "count": total = try reader.integer()
      default: break
      }
    }
  }
}
#endif
