// SPDX-License-Identifier: Apache-2.0

#if !Etcd
public import KeyringSealing

// This declaration gives a helpful message to programs that use the module without its trait.

/// Unavailable: swift-keyring was built without the trait Etcd.
@available(
  *, unavailable,
  message: "Turn on swift-keyring's trait in Package.swift: traits: [.defaults, \"Etcd\"]"
)
public struct EtcdStorage {
  /// Creates a storage; unavailable without the trait.
  public init(endpoints: [String], namespace: String, key: KeySource) {}
}
#endif
