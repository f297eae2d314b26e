// SPDX-License-Identifier: Apache-2.0

#if Etcd
/// The state of a node.
///
/// An ordinary user sees only the version.
struct StatusReply: JSONReadable, Sendable {
  private(set) var version = ""
  /// The alarms of the cluster, for example "memberID:1 alarm:NOSPACE".
  var alarms: [String] = []
  private var size: Int64 = 0
  private var leader: String?
  private var isLimited = false

  init(_ reader: inout JSONReader) throws(JSONReader.Malformed) {
    try reader.object { (name, reader) throws(JSONReader.Malformed) in
      switch name {
      case "version": version = try reader.text()
      case "etcdserver": (version, isLimited) = (try reader.text(), true)
      case "dbSize": size = try reader.integer()
      case "leader": leader = try reader.text()
      case "errors": alarms = try reader.array()
      default: break
      }
    }
    if version.isEmpty { throw JSONReader.Malformed() }
  }

  /// The number of bytes of the database, or `nil` for an ordinary user.
  var databaseSize: Int64? { isLimited ? nil : size }
  /// `true` for a node with a leader, which each node that answers an ordinary user has.
  var hasLeader: Bool { isLimited || leader.flatMap { UInt64($0) } ?? 0 != 0 }
}
#endif
