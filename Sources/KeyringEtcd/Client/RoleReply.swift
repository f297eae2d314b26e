// SPDX-License-Identifier: Apache-2.0

#if Etcd
/// A role, which allows access to ranges.
struct RoleReply: HeadedReply, Decodable {
  let header: ReplyHeader?
  private let permissions: [Permission]?

  private enum CodingKeys: String, CodingKey {
    case header
    case permissions = "perm"
  }

  /// The ranges that the role may read.
  var readable: [EtcdRange] { (permissions ?? []).filter(\.isReadable).compactMap(\.range) }

  private struct Permission: Decodable {
    let isReadable: Bool
    let range: EtcdRange?

    private enum CodingKeys: String, CodingKey {
      case key
      case end = "range_end"
      case type = "permType"
    }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      isReadable = try container.decodeIfPresent(String.self, forKey: .type) != "WRITE"
      let key = try container.decodeIfPresent(EtcdKey.self, forKey: .key) ?? EtcdKey("")
      let end = try container.decodeIfPresent(EtcdKey.self, forKey: .end) ?? key.next
      // A zero byte stands for the end of all keys.
      range = EtcdRange(from: key, to: end == EtcdKey("\0") ? EtcdKey("\u{10FFFF}") : end)
    }
  }
}
#endif
