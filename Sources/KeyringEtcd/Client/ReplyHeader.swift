// SPDX-License-Identifier: Apache-2.0

#if Etcd
/// A reply whose header tells which cluster has sent it.
protocol HeadedReply: JSONReadable, Sendable {
  var header: ReplyHeader? { get }
}

/// A reply that has nothing else.
struct HeaderReply: HeadedReply {
  private(set) var header: ReplyHeader?

  init(_ reader: inout JSONReader) throws(JSONReader.Malformed) {
    try reader.object { (name, reader) throws(JSONReader.Malformed) in
      if name == "header" { header = try ReplyHeader(&reader) }
    }
  }
}

struct ReplyHeader: JSONReadable, Sendable {
  /// The identifier of the cluster.
  private(set) var cluster: String?
  /// The revision of the database when the request was processed.
  private(set) var revision: Int64 = 0

  init(_ reader: inout JSONReader) throws(JSONReader.Malformed) {
    try reader.object { (name, reader) throws(JSONReader.Malformed) in
      switch name {
      case "cluster_id": cluster = try reader.text()
      case "revision": revision = try reader.integer()
      default: break
      }
    }
  }
}
#endif
