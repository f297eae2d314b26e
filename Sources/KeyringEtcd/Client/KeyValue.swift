// SPDX-License-Identifier: Apache-2.0

#if Etcd
internal import KeyringFoundation

/// A key with its value.
struct KeyValue: Decodable, Sendable {
  let key: EtcdKey
  let value: [UInt8]
  /// The revision in which the key was last changed.
  let revision: Int64
}

extension KeyValue {
  private enum CodingKeys: String, CodingKey {
    case key, value
    case revision = "mod_revision"
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    key = try container.decode(EtcdKey.self, forKey: .key)
    value = Array(try container.decodeIfPresent(Data.self, forKey: .value) ?? Data())
    revision = try container.decode(GatewayInteger.self, forKey: .revision).value
  }
}
#endif
