// SPDX-License-Identifier: Apache-2.0

#if Etcd
/// A new lease, or the state of one.
struct LeaseReply: HeadedReply {
  private(set) var header: ReplyHeader?
  private(set) var id: Int64 = 0
  /// The seconds that are left, or -1 after the end of the lease.
  private(set) var seconds: Int64?
  /// The seconds that were granted, or `nil` for a new lease and for one that has ended.
  private(set) var granted: Int64?

  init(_ reader: inout JSONReader) throws(JSONReader.Malformed) {
    try reader.object { (name, reader) throws(JSONReader.Malformed) in
      switch name {
      case "header": header = try ReplyHeader(&reader)
      case "ID": id = try reader.integer()
      case "TTL": seconds = try reader.integer(signed: true)
      case "grantedTTL": granted = try reader.integer()
      default: break
      }
    }
    if id == 0 { throw JSONReader.Malformed() }
  }
}
#endif
