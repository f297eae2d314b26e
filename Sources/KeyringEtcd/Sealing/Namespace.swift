// SPDX-License-Identifier: Apache-2.0

#if Etcd
internal import KeyringSealing

/// The names of a namespace's keys in etcd's database.
struct Namespace: Sendable {
  let name: String
  private let root: EtcdKey

  private static let layout = "v1"

  /// The format in which everything is stored.
  static let formatVersion: UInt8 = 1

  /// Creates a namespace, or returns `nil` for an invalid name.
  init?(_ name: String) {
    let parts = name.split(separator: "/", omittingEmptySubsequences: false)
    guard name.utf8.count <= 256,
      parts.allSatisfy({ part in
        // Otherwise, the keys of one namespace could be in another one.
        !part.isEmpty && part != Self.layout
          && part.utf8.allSatisfy {
            Character(UnicodeScalar($0)).isLetter && $0 < 128
              || (48...57).contains($0) || "-._".utf8.contains($0)
          }
      })
    else { return nil }
    self.name = name
    root = EtcdKey("/\(name)/\(Self.layout)/")
  }

  /// The description of the namespace.
  var meta: EtcdKey { root + "meta" }
  /// The identifier of the data key for new items.
  var primary: EtcdKey { root + "primary" }
  /// The prefix of the wrapped keys.
  var keys: EtcdKey { root + "keys/" }
  var rootKey: EtcdKey { keys + "root" }
  func dataKey(_ id: UInt32) -> EtcdKey { keys + id.bigEndianBytes.hexadecimal }

  /// The prefix of the items of all services.
  var items: EtcdKey { root + "items/" }
  /// The prefix of the records of writes of all services.
  var writes: EtcdKey { root + "writes/" }
  /// The prefix of the turns of all services.
  var turns: EtcdKey { root + "turns/" }
  func service(_ code: String) -> Service {
    let part = code + "/"
    return Service(items: items + part, writes: writes + part, turns: turns + part)
  }

  /// The service that stands for the keys themselves.
  var administration: Service { service("keys") }

  /// The prefixes of all that is written for a service, to which a role can be restricted.
  struct Service: Sendable {
    let items: EtcdKey
    let writes: EtcdKey
    let turns: EtcdKey

    /// Returns the key of the record of a write.
    func record(of write: [UInt8]) -> EtcdKey { writes + write.hexadecimal }
  }
}
#endif
