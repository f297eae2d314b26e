// SPDX-License-Identifier: Apache-2.0

#if !Etcd
public import KeyringSealing
public import KeyringStorage

// These declarations give a helpful message to programs that use the module without its trait. The storage conforms, so
// that the compiler says nothing else where a storage is expected.

/// Unavailable: this build of swift-keyring lacks the trait Etcd.
@available(
  *, unavailable,
  message: "Turn on swift-keyring's trait in Package.swift: traits: [.defaults, \"Etcd\"]"
)
public struct EtcdStorage: ImmediateStorage, ObservableStorage {
  /// Creates a storage; needs the trait Etcd.
  public init(
    endpoints: [String], namespace: String, key: KeySource, tls: EtcdTLS? = nil,
    user: EtcdUser? = nil, timeout: Duration = .zero
  ) {}
  /// Saves an item; needs the trait Etcd.
  public func save(_ item: SecureItem, mode: SaveMode) {}
  /// Finds items; needs the trait Etcd.
  public func items(matching query: ItemQuery) -> [SecureItem] { [] }
  /// Removes items; needs the trait Etcd.
  public func removeItems(matching query: ItemQuery) -> Int { 0 }
  /// Observes items; needs the trait Etcd.
  public func observe(
    _ query: ItemQuery?, _ observer: @escaping @Sendable (StorageEvent) -> Void
  ) -> StorageSubscription { fatalError() }
}
#endif
