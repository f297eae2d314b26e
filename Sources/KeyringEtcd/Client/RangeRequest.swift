// SPDX-License-Identifier: Apache-2.0

#if Etcd
/// A request for the values under a key, or under all keys up to another one.
struct RangeRequest: Encodable, Sendable {
  var key: EtcdKey
  var end: EtcdKey?
  var limit: Int?
  var revision: Int64?
  /// The lowest revision of the values to return, which leaves their number as it is.
  var leastRevision: Int64?
  /// The highest revision in which a key to return was created, which leaves their number as it is.
  var mostRecentCreation: Int64?
  /// The order of the values by the revisions in which their keys were created, or `nil` for that of the keys.
  var order: Order? {
    didSet { target = order.map { _ in "CREATE" } }
  }
  private var target: String?
  /// `true` for only the number of values.
  var countsOnly: Bool?
  /// `true` for only the keys.
  var keysOnly: Bool?

  /// An order of values.
  enum Order: String, Encodable {
    case oldestFirst = "ASCEND"
    case newestFirst = "DESCEND"
  }

  private enum CodingKeys: String, CodingKey {
    case key
    case mostRecentCreation = "max_create_revision"
    case order = "sort_order"
    case target = "sort_target"
    case leastRevision = "min_mod_revision"
    case end = "range_end"
    case limit
    case revision
    case countsOnly = "count_only"
    case keysOnly = "keys_only"
  }

  init(_ key: EtcdKey) { self.key = key }

  init(_ range: EtcdRange) { (key, end) = (range.start, range.end) }

  /// Creates a request for all keys with a prefix.
  init(prefix: EtcdKey) { self.init(EtcdRange(prefix: prefix)) }

  /// The keys whose values the reply may have.
  var range: EtcdRange { end.flatMap { EtcdRange(from: key, to: $0) } ?? EtcdRange(key) }
}
#endif
