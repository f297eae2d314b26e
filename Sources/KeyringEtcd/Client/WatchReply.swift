// SPDX-License-Identifier: Apache-2.0

#if Etcd
/// A message of a watch.
struct WatchReply: HeadedReply {
  /// The content, which an error in the middle of a stream doesn't have.
  private let result: Content?

  var header: ReplyHeader? { result?.header }
  /// The identifier of the cluster.
  var cluster: String? { header?.cluster }
  /// The revision of the database at the time of the message.
  var revision: Int64 { header?.revision ?? 0 }
  var isCreated: Bool { result?.created ?? false }
  /// `true` for the end of a watch, whose connection stays open.
  var isCanceled: Bool { result.map { $0.canceled ?? false } ?? true }
  var events: [Event] { result?.events ?? [] }

  private struct Content: Decodable, Sendable {
    let header: ReplyHeader?
    let created: Bool?
    let canceled: Bool?
    let events: [Event]?
  }

  struct Event: Decodable, Sendable {
    private let type: String?
    let value: KeyValue

    var isRemoval: Bool { type == "DELETE" }

    private enum CodingKeys: String, CodingKey {
      case type
      case value = "kv"
    }
  }
}
#endif
