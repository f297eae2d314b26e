// SPDX-License-Identifier: Apache-2.0

#if Etcd
/// A role, which allows access to ranges.
struct RoleReply: HeadedReply {
  private(set) var header: ReplyHeader?
  private var permissions: [Permission] = []

  /// The ranges that the role may read.
  var readable: [EtcdRange] { permissions.filter(\.isReadable).compactMap(\.range) }

  init(_ reader: inout JSONReader) throws(JSONReader.Malformed) {
    try reader.object { (name, reader) throws(JSONReader.Malformed) in
      switch name {
      case "header": header = try ReplyHeader(&reader)
      case "perm": permissions = try reader.array()
      default: break
      }
    }
  }

  private struct Permission: JSONReadable {
    private(set) var isReadable = true
    private(set) var range: EtcdRange?

    init(_ reader: inout JSONReader) throws(JSONReader.Malformed) {
      var (key, end) = (EtcdKey(""), EtcdKey?.none)
      try reader.object { (name, reader) throws(JSONReader.Malformed) in
        switch name {
        case "permType": isReadable = try reader.text() != "WRITE"
        case "key": key = try EtcdKey(&reader)
        case "range_end": end = try EtcdKey(&reader)
        default: break
        }
      }
      // A zero byte stands for the end of all keys.
      range = EtcdRange(
        from: key, to: end == EtcdKey("\0") ? EtcdKey("\u{10FFFF}") : end ?? key.next)
    }
  }
}
#endif
