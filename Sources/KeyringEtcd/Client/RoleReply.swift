// SPDX-License-Identifier: Apache-2.0

#if Etcd
/// A role, which allows access to ranges.
struct RoleReply: HeadedReply {
  let header: ReplyHeader?
  private let perm: [Permission]?

  /// The ranges that the role may read.
  var readable: [EtcdRange] {
    (perm ?? []).filter { $0.permType != "WRITE" }.compactMap(\.range)
  }

  private struct Permission: Decodable, Sendable {
    let permType: String?
    let key: EtcdKey?
    let end: EtcdKey?

    private enum CodingKeys: String, CodingKey {
      case permType, key
      case end = "range_end"
    }

    var range: EtcdRange? {
      let key = key ?? EtcdKey("")
      // A zero byte stands for the end of all keys.
      return EtcdRange(
        from: key, to: end == EtcdKey("\0") ? EtcdKey("\u{10FFFF}") : end ?? key.next)
    }
  }
}
#endif
