// SPDX-License-Identifier: Apache-2.0

#if Etcd
/// The state of a node.
///
/// An ordinary user sees only the version.
struct StatusReply: Decodable, Sendable {
  let version: String
  /// The alarms of the cluster, for example "memberID:1 alarm:NOSPACE".
  var alarms: [String]
  /// The number of bytes of the database, or `nil` for an ordinary user.
  let databaseSize: Int64?
  /// `true` for a node with a leader, which each node that answers an ordinary user has.
  let hasLeader: Bool

  private enum CodingKeys: String, CodingKey {
    case version, leader
    case limitedVersion = "etcdserver"
    case size = "dbSize"
    case alarms = "errors"
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    alarms = try container.decodeIfPresent([String].self, forKey: .alarms) ?? []
    if let version = try container.decodeIfPresent(String.self, forKey: .limitedVersion) {
      (self.version, databaseSize, hasLeader) = (version, nil, true)
      return
    }
    version = try container.decode(String.self, forKey: .version)
    databaseSize = try container.decodeIfPresent(GatewayInteger.self, forKey: .size)?.value ?? 0
    hasLeader = try container.decodeIfPresent(String.self, forKey: .leader) ?? "0" != "0"
  }
}
#endif
