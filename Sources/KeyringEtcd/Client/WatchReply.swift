// SPDX-License-Identifier: Apache-2.0

#if Etcd
/// A message of a watch.
struct WatchReply: HeadedReply {
  private(set) var header: ReplyHeader?
  private(set) var isCreated = false
  /// `true` for the end of a watch, whose connection stays open.
  ///
  /// An error in the middle of a stream is such an end, too: its message has no result.
  private(set) var isCanceled = true
  private(set) var events: [Event] = []

  /// The identifier of the cluster.
  var cluster: String? { header?.cluster }
  /// The revision of the database at the time of the message.
  var revision: Int64 { header?.revision ?? 0 }

  init(_ reader: inout JSONReader) throws(JSONReader.Malformed) {
    try reader.object { (name, reader) throws(JSONReader.Malformed) in
      guard name == "result" else { return }
      isCanceled = false
      try reader.object { (name, reader) throws(JSONReader.Malformed) in
        switch name {
        case "header": header = try ReplyHeader(&reader)
        case "created": isCreated = try reader.bool()
        case "canceled": isCanceled = try reader.bool()
        case "events": events = try reader.array()
        default: break
        }
      }
    }
  }

  struct Event: JSONReadable, Sendable {
    let isRemoval: Bool
    let value: KeyValue

    init(_ reader: inout JSONReader) throws(JSONReader.Malformed) {
      var (isRemoval, value): (Bool, KeyValue?) = (false, nil)
      try reader.object { (name, reader) throws(JSONReader.Malformed) in
        switch name {
        case "type": isRemoval = try reader.text() == "DELETE"
        case "kv": value = try KeyValue(&reader)
        default: break
        }
      }
      guard let value else { throw JSONReader.Malformed() }
      (self.isRemoval, self.value) = (isRemoval, value)
    }
  }
}
#endif
