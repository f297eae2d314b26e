// SPDX-License-Identifier: Apache-2.0

#if Etcd
struct TransactionReply: HeadedReply {
  private(set) var header: ReplyHeader?
  /// Whether all conditions were met.
  private(set) var hasSucceeded = false
  /// The replies to the ranges that were requested, in their order.
  private(set) var ranges: [RangeReply] = []

  var revision: Int64 { header?.revision ?? 0 }

  init(_ reader: inout JSONReader) throws(JSONReader.Malformed) {
    try reader.object { (name, reader) throws(JSONReader.Malformed) in
      switch name {
      case "header": header = try ReplyHeader(&reader)
      case "succeeded": hasSucceeded = try reader.bool()
      case "responses": ranges = try reader.array(of: Response.self).compactMap(\.range)
      default: break
      }
    }
  }

  private struct Response: JSONReadable {
    private(set) var range: RangeReply?

    init(_ reader: inout JSONReader) throws(JSONReader.Malformed) {
      try reader.object { (name, reader) throws(JSONReader.Malformed) in
        if name == "response_range" { range = try RangeReply(&reader) }
      }
    }
  }
}
#endif
