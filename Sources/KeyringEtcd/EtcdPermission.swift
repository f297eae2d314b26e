// SPDX-License-Identifier: Apache-2.0

#if Etcd
/// A permission to grant to a role of the cluster.
///
/// For each permission, run `etcdctl role grant-permission --prefix ROLE`, followed by its description.
public struct EtcdPermission: Hashable, Sendable, CustomStringConvertible {
  /// The prefix of the keys in etcd's database.
  public let prefix: String
  /// Whether the role may change the keys.
  public let isWritable: Bool

  /// The type of the permission and the prefix, for example "read /example/v1/keys/".
  public var description: String { "\(isWritable ? "readwrite" : "read") \(prefix)" }
}
#endif
