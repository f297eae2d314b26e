// SPDX-License-Identifier: Apache-2.0

#if Etcd
public import KeyringSealing
public import KeyringStorage

/// A storage that keeps the items of a fleet of machines in an etcd cluster.
///
/// Items are encrypted before they leave the process, and so are their names. The cluster's operator sees
/// how many items there are, their sizes, and when they change. A change is atomic for the whole fleet.
///
/// ```swift
/// let storage = EtcdStorage(
///   endpoints: [
///     "https://etcd-1.example.org:2379", "https://etcd-2.example.org:2379", "https://etcd-3.example.org:2379",
///   ],
///   namespace: "example", key: .systemdCredential("fleet-key"),
///   tls: EtcdTLS(authorities: "/etc/example/authorities.pem"))
/// ```
///
/// Before its first use, an operator creates the namespace with ``createNamespace()``.
///
/// A secret can have up to 1 MiB.
public struct EtcdStorage: AsynchronousStorage {
  let fleet: Fleet

  /// 1 MiB, because etcd refuses requests of more than 1.5 MiB.
  public var secretByteLimit: Int { 1 << 20 }

  /// The promise of a cluster, whose nodes have a change on disk before they acknowledge it.
  public var durability: StorageDurability { .afterKill }

  /// The promise for all items of the cluster, which are read at one revision.
  public var readsOneVersion: Bool { true }

  /// Creates a storage, which connects to the cluster at its first use.
  ///
  /// - Parameters:
  ///   - endpoints: The addresses of the nodes of one cluster, such as "https://etcd-1.example.org:2379". A silent
  ///     node is passed over. With a user or files for encrypted connections, "http://" is only for a node on this
  ///     machine.
  ///   - namespace: The name under which the fleet's items are in the cluster: letters, digits, "-", ".",
  ///     "_" and "/". No part between slashes may be empty or "v1".
  ///   - key: The source of the key that all machines of the fleet have. Prefer a key to a passphrase:
  ///     someone who has a copy of the cluster's data can try out passphrases.
  ///   - tls: The files for encrypted connections, or `nil` to trust the authorities of the system.
  ///   - user: The user of the cluster, or `nil` for a cluster with free access.
  ///   - timeout: The longest time that an operation waits for the cluster. The first operation also waits
  ///     for the source of the key.
  public init(
    endpoints: [String], namespace: String, key: KeySource, tls: EtcdTLS? = nil,
    user: EtcdUser? = nil, timeout: Duration = .seconds(10)
  ) {
    fleet = Fleet(
      FleetSettings(
        endpoints: endpoints, namespace: namespace, tls: tls, user: user, timeout: timeout), key)
  }

  init(_ fleet: Fleet) { self.fleet = fleet }
}

extension EtcdStorage: CustomStringConvertible, CustomReflectable {
  /// The name of the type and the namespace.
  public var description: String { "\(backendName)(\(fleet.settings.namespace))" }
  /// An empty mirror.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
#endif
