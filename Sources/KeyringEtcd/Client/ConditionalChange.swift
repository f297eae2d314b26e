// SPDX-License-Identifier: Apache-2.0

#if Etcd
/// A change of a key, on the condition that the key was last changed, or created, in a certain revision.
struct ConditionalChange: Sendable {
  let key: EtcdKey
  /// The revision, or 0 for a new key.
  let revision: Int64
  /// The new value, or `nil` to remove the key.
  let value: [UInt8]?
  /// `true` if the revision is that of the creation.
  var comparesCreation = false

  var comparison: Transaction.Comparison {
    comparesCreation ? .init(key, creation: revision) : .init(key, revision: revision)
  }

  var step: Transaction.Step {
    value.map { .put(key, $0, lease: nil) } ?? .delete(key)
  }

  /// Returns whether the condition is met.
  ///
  /// - Parameter current: The key as it is, or `nil` for an absent one.
  /// - Returns: `true` for a change that can be made.
  func isPossible(with current: KeyValue?) -> Bool {
    revision == (comparesCreation ? current?.creation : current?.revision) ?? 0
  }
}
#endif
