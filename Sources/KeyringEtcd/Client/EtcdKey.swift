// SPDX-License-Identifier: Apache-2.0

#if Etcd
internal import KeyringFoundation

/// A key of etcd's database, which this package writes as a path of ASCII characters.
struct EtcdKey: Hashable, Comparable, Sendable {
  let path: String

  init(_ path: String) { self.path = path }

  /// The first key after all keys that begin with this one.
  var endOfPrefix: EtcdKey {
    var scalars = Array(path.unicodeScalars)
    if let last = scalars.popLast(), let next = UnicodeScalar(last.value + 1) {
      scalars.append(next)
    }
    return EtcdKey(String(String.UnicodeScalarView(scalars)))
  }

  /// The first key after this one.
  var next: EtcdKey { EtcdKey(path + "\0") }

  static func < (one: EtcdKey, other: EtcdKey) -> Bool {
    one.path.utf8.lexicographicallyPrecedes(other.path.utf8)
  }

  static func + (key: EtcdKey, suffix: String) -> EtcdKey { EtcdKey(key.path + suffix) }
}

/// All keys from one on, up to but not including another one.
struct EtcdRange: Hashable, Sendable {
  var start: EtcdKey
  var end: EtcdKey

  /// Creates the range from one key to another, or returns `nil` if it's empty.
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

extension EtcdKey: Codable {
  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    path = String(decoding: try container.decode(Data.self), as: UTF8.self)
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(Data(path.utf8))
  }
}
#endif
