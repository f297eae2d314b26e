// SPDX-License-Identifier: Apache-2.0

#if Etcd
struct ReplyHeader: Decodable, Sendable {
  /// The identifier of the cluster.
  private(set) var cluster: String?
  /// The revision of the database when the request was processed.
  private(set) var revision: GatewayInteger?

  private enum CodingKeys: String, CodingKey {
    case revision
    case cluster = "cluster_id"
  }
}

extension ReplyHeader: JSONReadable {
  init(_ reader: inout JSONReader) throws(JSONReader.Malformed) {
    try reader.object { (name, reader) throws(JSONReader.Malformed) in
      switch name {
      case "cluster_id": cluster = try reader.text()
      case "revision": revision = GatewayInteger(try reader.integer())
      default: break
      }
    }
  }
}
#endif
