// SPDX-License-Identifier: Apache-2.0

#if Etcd
internal import KeyringPlatform

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

  static func < (one: EtcdKey, other: EtcdKey) -> Bool { one.path < other.path }

  static func + (key: EtcdKey, suffix: String) -> EtcdKey { EtcdKey(key.path + suffix) }
}

extension EtcdKey: Codable {
  init(from decoder: any Decoder) throws {
    path = String(decoding: try decoder.singleValueContainer().decode(Data.self), as: UTF8.self)
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(Data(path.utf8))
  }
}
#endif
