// SPDX-License-Identifier: Apache-2.0

#if Etcd
/// A message of a watch.
struct WatchReply: Decodable, Sendable {
  /// The content, which an error in the middle of a stream doesn't have.
  private let result: Content?

  /// The identifier of the cluster.
  var cluster: String? { result?.header?.cluster }
  /// The revision of the database when the message was sent.
  var revision: Int64 { result?.header?.revision?.value ?? 0 }
  var isCreated: Bool { result?.created ?? false }
  /// Indicates whether the watch has ended, although its connection stays open.
  var isCanceled: Bool { result.map { $0.canceled ?? false } ?? true }
  var events: [Event] { result?.events ?? [] }

  private struct Content: Decodable {
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
