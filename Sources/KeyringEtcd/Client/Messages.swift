// SPDX-License-Identifier: Apache-2.0

#if Etcd
internal import KeyringFoundation

// The messages of etcd's JSON gateway, as in https://etcd.io/docs/v3.4/dev-guide/api_grpc_gateway/. The gateway
// ignores fields that it doesn't know. A misspelt condition would make a write unconditional.

/// A request for the values under a key, or under all keys up to another one.
struct RangeRequest: Encodable, Sendable {
  var key: EtcdKey
  var end: EtcdKey?
  var limit: Int?
  var revision: Int64?
  /// The lowest revision of the values to return, which doesn't affect their number.
  var leastRevision: Int64?
  /// Indicates whether only the number of values is returned.
  var countsOnly: Bool?
  /// Indicates whether the values are left out.
  var keysOnly: Bool?

  private enum CodingKeys: String, CodingKey {
    case key
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

/// A transaction, which does one of two lists of operations, depending on conditions.
struct Transaction: Encodable, Sendable {
  /// The most ranges that a transaction reads; etcd allows 128.
  static let rangeLimit = 100

  var compare: [Comparison] = []
  var success: [Operation] = []
  var failure: [Operation] = []

  /// A condition on a key.
  struct Comparison: Encodable, Equatable, Sendable {
    let key: EtcdKey
    private let result = "EQUAL"
    private let target: String
    private var revision: String?
    private var value: Data?

    private enum CodingKeys: String, CodingKey {
      case key, value, result, target
      case revision = "mod_revision"
    }

    /// Creates a condition on the revision in which the key was last changed, or 0 if there must be no such key.
    init(_ key: EtcdKey, revision: Int64) {
      (self.key, target, self.revision) = (key, "MOD", "\(revision)")
    }

    init(_ key: EtcdKey, value: [UInt8]) {
      (self.key, target, self.value) = (key, "VALUE", Data(value))
    }
  }

  struct Operation: Encodable, Sendable {
    private var range: RangeRequest?
    private var put: Put?
    private var deletion: RangeRequest?

    private enum CodingKeys: String, CodingKey {
      case range = "request_range"
      case put = "request_put"
      case deletion = "request_delete_range"
    }

    private struct Put: Encodable {
      let key: EtcdKey
      let value: Data
      let lease: String?
    }

    static func range(_ request: RangeRequest) -> Operation { Operation(range: request) }

    static func put(_ key: EtcdKey, _ value: [UInt8], lease: Int64?) -> Operation {
      Operation(put: Put(key: key, value: Data(value), lease: lease.map { "\($0)" }))
    }

    static func delete(_ key: EtcdKey) -> Operation { Operation(deletion: RangeRequest(key)) }
  }
}

extension Transaction {
  /// Returns a transaction that a node refuses if it would refuse a change of this size.
  ///
  /// It only compares a value, so the node stores nothing, and asks no other node. etcd limits a message to the
  /// bytes of `--max-request-bytes`, which limit a change, and 512 KiB more.
  static func sizeProbe(for size: Int) -> Transaction {
    Transaction(
      compare: [.init(EtcdKey("/"), value: Array(repeating: 0, count: size + (512 << 10)))])
  }
}

struct LeaseRequest: Encodable, Sendable {
  /// The time to live, in seconds.
  let seconds: Int

  private enum CodingKeys: String, CodingKey {
    case seconds = "TTL"
  }
}

struct AuthenticationRequest: Encodable, Sendable {
  let name: String
  let password: String
}

// MARK: - Replies

/// A number that the gateway writes as a string, and leaves out if it's zero.
struct GatewayInteger: Decodable, Sendable {
  let value: Int64

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let found: Int64?
    if let text = try? container.decode(String.self) {
      found = Int64(text)
    } else {
      found = try container.decode(Int64.self)
    }
    // etcd sends no negative numbers, and each revision must have a next one.
    guard let number = found, (0..<Int64.max).contains(number) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a number")
    }
    value = number
  }
}

struct ReplyHeader: Decodable, Sendable {
  /// The identifier of the cluster.
  let cluster: String?
  /// The revision of the database when the request was processed.
  let revision: GatewayInteger?

  private enum CodingKeys: String, CodingKey {
    case revision
    case cluster = "cluster_id"
  }
}

/// A reply whose header tells which cluster has sent it.
protocol HeadedReply: Decodable, Sendable {
  var header: ReplyHeader? { get }
}

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

struct RangeReply: Decodable, Sendable {
  private let kvs: [KeyValue]?
  private let more: Bool?
  private let count: GatewayInteger?

  var values: [KeyValue] { kvs ?? [] }
  /// Indicates whether there are more values than the limit of the request.
  var hasMore: Bool { more ?? false }
  /// The number of values in the range, regardless of limits.
  var total: Int64 { count?.value ?? 0 }
}

struct TransactionReply: HeadedReply {
  let header: ReplyHeader?
  private let succeeded: Bool?
  private let responses: [Response]?

  var revision: Int64 { header?.revision?.value ?? 0 }
  /// Indicates whether all conditions were met.
  var hasSucceeded: Bool { succeeded ?? false }
  /// The replies to the ranges that were requested, in their order.
  var ranges: [RangeReply] { (responses ?? []).compactMap(\.range) }

  private struct Response: Decodable {
    let range: RangeReply?

    private enum CodingKeys: String, CodingKey { case range = "response_range" }
  }
}

/// The state of a lease.
struct LeaseState: HeadedReply {
  let header: ReplyHeader?
  let id: GatewayInteger
  /// The time to live that was granted, in seconds, or `nil` if the lease has ended.
  let granted: GatewayInteger?

  private enum CodingKeys: String, CodingKey {
    case header
    case id = "ID"
    case granted = "grantedTTL"
  }
}

struct LeaseReply: HeadedReply {
  let header: ReplyHeader?
  let id: GatewayInteger
  let seconds: GatewayInteger

  private enum CodingKeys: String, CodingKey {
    case header
    case id = "ID"
    case seconds = "TTL"
  }
}

/// The version of a node, which every program may read.
struct VersionReply: Decodable, Sendable {
  let version: String

  private enum CodingKeys: String, CodingKey { case version = "etcdserver" }
}

/// The state of a node.
struct StatusReply: Decodable, Sendable {
  let version: String
  private let dbSize: GatewayInteger?
  private let leader: String?
  private let errors: [String]?
  private let isLimited: Bool?

  /// Creates the state as a user sees it who may read only the version.
  init(_ reply: VersionReply, alarms: [String] = []) {
    (version, isLimited, errors) = (reply.version, true, alarms)
    (dbSize, leader) = (nil, nil)
  }

  /// The number of bytes of the database, or `nil` if the user may not read it.
  var databaseSize: Int64? { isLimited == true ? nil : dbSize?.value ?? 0 }
  /// Indicates whether the node has a leader, without which it doesn't answer a user who may read only the version.
  var hasLeader: Bool { isLimited == true || leader.flatMap { UInt64($0) } ?? 0 != 0 }
  /// The alarms of the cluster, for example "memberID:1 alarm:NOSPACE".
  var alarms: [String] { errors ?? [] }
}

/// A request for the changes of all keys in a range from a revision on.
struct WatchRequest: Encodable, Sendable {
  private let create: Creation

  private enum CodingKeys: String, CodingKey { case create = "create_request" }

  private struct Creation: Encodable {
    let key: EtcdKey
    let end: EtcdKey
    let start: String
    /// Otherwise, all changes since the revision would be one message.
    let fragment = true

    private enum CodingKeys: String, CodingKey {
      case key, fragment
      case end = "range_end"
      case start = "start_revision"
    }
  }

  /// A request that each node answers with its cluster, even if the program has no token.
  ///
  /// With users, the node then refuses the watch. No key that this package writes is in the range.
  static let identification = WatchRequest(EtcdRange(EtcdKey("/")), from: 0)

  init(_ range: EtcdRange, from startRevision: Int64) {
    create = Creation(key: range.start, end: range.end, start: "\(startRevision)")
  }
}

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

struct UserReply: HeadedReply {
  let header: ReplyHeader?
  /// The names of the user's roles.
  let roles: [String]?
}

/// A role, which allows access to ranges.
struct RoleReply: HeadedReply {
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

struct AuthenticationReply: Decodable, Sendable {
  let token: String
}

/// An error that etcd answers.
struct GatewayError: Decodable, Error, Sendable {
  /// The status code of gRPC, as in https://grpc.io/docs/guides/status-codes/.
  let code: Int
  let message: String

  private enum CodingKeys: String, CodingKey { case code, message, error }

  init(code: Int, message: String) { (self.code, self.message) = (code, message) }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    code = try container.decode(Int.self, forKey: .code)
    message =
      try container.decodeIfPresent(String.self, forKey: .message)
      ?? container.decodeIfPresent(String.self, forKey: .error) ?? ""
  }
}
#endif
