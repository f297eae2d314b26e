// SPDX-License-Identifier: Apache-2.0

#if Etcd
/// All keys from one on, up to but not including another one.
struct EtcdRange: Hashable, Sendable {
  var start: EtcdKey
  var end: EtcdKey

  /// Creates the range from one key to another, or returns `nil` for an empty one.
  init?(from start: EtcdKey, to end: EtcdKey) {
    guard start < end else { return nil }
    (self.start, self.end) = (start, end)
  }

  /// Creates the range of a single key.
  init(_ key: EtcdKey) { (start, end) = (key, key.next) }

  /// Creates the range of all keys with a prefix.
  init(prefix: EtcdKey) { (start, end) = (prefix, prefix.endOfPrefix) }

  func contains(_ key: EtcdKey) -> Bool { start <= key && key < end }

  func contains(_ other: EtcdRange) -> Bool { start <= other.start && other.end <= end }

  /// Returns the parts of this range that are in others, in their order, with keys between them.
  func parts(in others: [EtcdRange]) -> [EtcdRange] {
    var parts: [EtcdRange] = []
    for other in others.sorted(by: { $0.start < $1.start }) {
      guard let part = EtcdRange(from: max(start, other.start), to: min(end, other.end)) else {
        continue
      }
      if let last = parts.last, part.start <= last.end {
        parts[parts.count - 1].end = max(last.end, part.end)
      } else {
        parts.append(part)
      }
    }
    return parts
  }
}
#endif
