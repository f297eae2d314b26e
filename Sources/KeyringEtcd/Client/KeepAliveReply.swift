// SPDX-License-Identifier: Apache-2.0

#if Etcd
/// The answer to the holder of a lease, the first line of a stream.
struct KeepAliveReply: HeadedReply {
  private(set) var header: ReplyHeader?
  /// The seconds that the lease has, or `nil` for one that has ended.
  private(set) var seconds: Int64?

  init(_ reader: inout JSONReader) throws(JSONReader.Malformed) {
    var hasResult = false
    try reader.object { (name, reader) throws(JSONReader.Malformed) in
      guard name == "result" else { return }
      hasResult = true
      try reader.object { (name, reader) throws(JSONReader.Malformed) in
        switch name {
        case "header": header = try ReplyHeader(&reader)
        case "TTL": seconds = try reader.integer(signed: true)
        default: break
        }
      }
    }
    // A node that has lost its leader answers with an error here.
    if !hasResult { throw JSONReader.Malformed() }
    if let known = seconds, known <= 0 { seconds = nil }
  }
}
#endif
