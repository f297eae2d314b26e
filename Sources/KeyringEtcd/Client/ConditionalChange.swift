// SPDX-License-Identifier: Apache-2.0

#if Etcd
/// A change of a key, on the condition that the key was last changed in a certain revision.
struct ConditionalChange: Sendable {
  let key: EtcdKey
  /// The revision, or 0 for a new key.
  let revision: Int64
  /// The new value, or `nil` to remove the key.
  let value: [UInt8]?

  var comparison: Transaction.Comparison { .init(key, revision: revision) }

  var step: Transaction.Step {
    value.map { .put(key, $0, lease: nil) } ?? .delete(key)
  }
}
#endif
