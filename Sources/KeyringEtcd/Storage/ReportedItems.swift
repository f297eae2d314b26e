// SPDX-License-Identifier: Apache-2.0

#if Etcd
/// The items that events of watches have brought, still encrypted.
///
/// Several watches may report the same item, one of them later than the other. This process may also have read
/// or written the item since. So an item counts only with the latest revision that this process has seen.
struct ReportedItems: Sendable {
  private var values: [EtcdKey: KeyValue] = [:]
  /// Whether a cache reads reported items.
  private var isRead = false
  /// The latest revision that this process has seen otherwise.
  private var seen: Int64 = 0

  private static let mostValues = 1_000
  private static let largestValue = 1 << 16

  /// Records a revision in which this process has read or written items.
  mutating func see(_ revision: Int64) { seen = max(seen, revision) }

  /// Takes over the value of an event for a cache, up to a certain size.
  mutating func put(_ value: KeyValue) {
    guard isRead else { return see(value.revision) }
    if let known = values[value.key], known.revision >= value.revision { return }
    if value.value.count > Self.largestValue || values.count >= Self.mostValues {
      forget()
      return see(value.revision)
    }
    values[value.key] = value
  }

  /// Forgets all values after a gap in the events.
  mutating func forget() {
    see(values.values.lazy.map(\.revision).max() ?? 0)
    values = [:]
  }

  /// Forgets all values and revisions, because the cluster has another history.
  mutating func forgetHistory() { (values, seen) = ([:], 0) }

  /// Returns the value in a place, or `nil` for one to read from the cluster.
  mutating func value(at place: EtcdKey) -> KeyValue? {
    isRead = true
    return values[place].flatMap { $0.revision >= seen ? $0 : nil }
  }
}
#endif
