// SPDX-License-Identifier: Apache-2.0

#if Etcd && os(Linux)
import KeyringSealing
import KeyringStorage

@testable import KeyringEtcd

/// Values, changed as the operator of a cluster can change them.
extension Cluster {
  /// Stores a value under a key.
  func put(_ key: EtcdKey, _ value: [UInt8]) async throws {
    try await call("/v3/kv/txn", Transaction(success: [.put(key, value, lease: nil)]))
  }

  /// Removes the value under a key.
  func remove(_ key: EtcdKey) async throws {
    try await call("/v3/kv/txn", Transaction(success: [.delete(key)]))
  }
}

extension FleetItem {
  /// Returns an item that no storage has written.
  static func forged(_ key: ItemKey, _ secret: String) -> FleetItem {
    FleetItem(
      ItemRecord(saving: SecureItem(key: key), over: nil), Secret(secret),
      writeID: Array(repeating: 0, count: FleetItem.writeIDByteCount))
  }
}
#endif
