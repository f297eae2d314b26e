// SPDX-License-Identifier: Apache-2.0

#if Etcd
internal import KeyringPlatform

/// A key with its value.
struct KeyValue: Sendable {
  let key: EtcdKey
  let value: [UInt8]
  /// The revision in which the key was last changed.
  let revision: Int64
  /// The revision in which the key was created.
  private(set) var creation: Int64 = 0
}

extension KeyValue: Decodable {
  private enum CodingKeys: String, CodingKey {
    case key, value
    case revision = "mod_revision"
    case creation = "create_revision"
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    key = try container.decode(EtcdKey.self, forKey: .key)
    value = Array(try container.decodeIfPresent(Data.self, forKey: .value) ?? Data())
    revision = try container.decode(GatewayInteger.self, forKey: .revision).value
    creation = try container.decodeIfPresent(GatewayInteger.self, forKey: .creation)?.value ?? 0
  }
}
#endif
