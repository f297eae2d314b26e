// SPDX-License-Identifier: Apache-2.0

#if Etcd
/// A permission to grant to a role of the cluster.
///
/// ```swift
/// for permission in try await storage.permissions(for: .password(service: "mail", account: "me")) {
///   print("etcdctl role grant-permission --prefix mail \(permission)")
/// }
/// ```
///
/// A service needs to read the keys of the namespace, and to read and write its own items, the records of its writes, and
/// its turns, which `update` and `refresh` take.
///
/// Its description ends the command `etcdctl role grant-permission --prefix ROLE`.
public struct EtcdPermission: Hashable, Sendable, CustomStringConvertible {
  /// The prefix of the keys in etcd's database.
  public let prefix: String
  /// `true` for a role that may change the keys.
  public let isWritable: Bool

  /// The type of the permission and the prefix, for example "read /example/v1/keys/".
  public var description: String { "\(isWritable ? "readwrite" : "read") \(prefix)" }
}
#endif
