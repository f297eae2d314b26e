// SPDX-License-Identifier: Apache-2.0

#if Etcd
/// The state of a node.
struct StatusReply: Decodable, Sendable {
  let version: String
  private let dbSize: GatewayInteger?
  private let leader: String?
  private let errors: [String]?
  private let isLimited: Bool?

  /// The version of a node, which every program may read.
  struct Version: Decodable {
    let version: String

    private enum CodingKeys: String, CodingKey { case version = "etcdserver" }
  }

  /// Creates the state as a user sees it who may read only the version.
  init(_ reply: Version, alarms: [String] = []) {
    (version, isLimited, errors) = (reply.version, true, alarms)
    (dbSize, leader) = (nil, nil)
  }

  /// The number of bytes of the database, or `nil` if the user may not read it.
  var databaseSize: Int64? { isLimited == true ? nil : dbSize?.value ?? 0 }
  /// Whether the node has a leader, without which it doesn't answer a user who may read only the version.
  var hasLeader: Bool { isLimited == true || leader.flatMap { UInt64($0) } ?? 0 != 0 }
  /// The alarms of the cluster, for example "memberID:1 alarm:NOSPACE".
  var alarms: [String] { errors ?? [] }
}
#endif
