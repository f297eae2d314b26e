// SPDX-License-Identifier: Apache-2.0

#if Etcd
/// The items that events of watches have brought, still encrypted.
///
/// The last one is also kept decrypted until it's read, if this process uses it.
///
/// Several watches may report the same item, one of them later than the other. This process may also have read
/// or written the item since. An item that may be older than what this process has seen isn't returned.
struct ReportedItems: Sendable {
  private var values: [EtcdKey: KeyValue] = [:]
  private var last: (place: EtcdKey, item: FleetItem)?
  /// Indicates whether a cache reads reported items.
  private var isRead = false
  /// The latest revision that this process has seen otherwise.
  private var seen: Int64 = 0

  private static let mostValues = 1_000
  private static let largestValue = 1 << 16

  /// Records a revision in which this process has read or written items.
  mutating func see(_ revision: Int64) {
    if revision > seen { last = nil }
    seen = max(seen, revision)
  }

  /// Takes over the value of an event, unless it's too large to be kept or nobody reads reported items.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - item: The item in it, or `nil` if this process doesn't use the item.
  mutating func put(_ value: KeyValue, _ item: FleetItem?) {
    guard isRead else { return see(value.revision) }
    if let known = values[value.key], known.revision >= value.revision { return }
    if value.value.count > Self.largestValue || values.count >= Self.mostValues {
      forget()
      return see(value.revision)
    }
    values[value.key] = value
    last = item.map { (value.key, $0) }
  }

  /// Forgets all values, because events may be missing.
  mutating func forget() {
    see(values.values.lazy.map(\.revision).max() ?? 0)
    (values, last) = ([:], nil)
  }

  /// Forgets all values and revisions, because the cluster has another history.
  mutating func forgetHistory() { (values, last, seen) = ([:], nil, 0) }

  /// Returns the value in a place, with the item in it if that is decrypted, or `nil` if it has to be read.
  mutating func value(at place: EtcdKey) -> (value: KeyValue, item: FleetItem?)? {
    isRead = true
    guard let value = values[place], value.revision >= seen else { return nil }
    guard let last, last.place == place else { return (value, nil) }
    self.last = nil
    return (value, last.item)
  }
}
#endif
