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

  private enum CodingKeys: String, CodingKey {
    case key
    case leastRevision = "min_mod_revision"
    case end = "range_end"
    case limit
    case revision
    case countsOnly = "count_only"
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
    enum State: Equatable, Sendable {
      /// The revision in which the key was last changed, or 0 if there must be no such key.
      case revision(Int64)
      case value([UInt8])
    }

    let key: EtcdKey
    let state: State

    private enum CodingKeys: String, CodingKey {
      case key, value, result, target
      case revision = "mod_revision"
    }

    init(_ key: EtcdKey, _ state: State) { (self.key, self.state) = (key, state) }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode("EQUAL", forKey: .result)
      try container.encode(key, forKey: .key)
      switch state {
      case .revision(let revision):
        try container.encode("MOD", forKey: .target)
        try container.encode("\(revision)", forKey: .revision)
      case .value(let value):
        try container.encode("VALUE", forKey: .target)
        try container.encode(Data(value), forKey: .value)
      }
    }
  }

  enum Operation: Encodable, Sendable {
    case range(RangeRequest)
    case put(EtcdKey, [UInt8], lease: Int64?)
    case delete(EtcdKey)

    private enum Kind: String, CodingKey {
      case range = "request_range"
      case put = "request_put"
      case delete = "request_delete_range"
    }

    private enum Field: String, CodingKey {
      case key, value, lease
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Kind.self)
      switch self {
      case .range(let request):
        try container.encode(request, forKey: .range)
      case .put(let key, let value, let lease):
        var put = container.nestedContainer(keyedBy: Field.self, forKey: .put)
        try put.encode(key, forKey: .key)
        try put.encode(Data(value), forKey: .value)
        try put.encodeIfPresent(lease.map { "\($0)" }, forKey: .lease)
      case .delete(let key):
        var delete = container.nestedContainer(keyedBy: Field.self, forKey: .delete)
        try delete.encode(key, forKey: .key)
      }
    }
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
  /// The revision of the database when the request was processed.
  let revision: Int64

  private enum CodingKeys: CodingKey { case revision }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    revision = try container.decodeIfPresent(GatewayInteger.self, forKey: .revision)?.value ?? 0
  }
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
  let values: [KeyValue]
  /// Indicates whether there are more values than the limit of the request.
  let hasMore: Bool
  /// The number of values in the range, regardless of limits.
  let count: Int64

  private enum CodingKeys: String, CodingKey {
    case values = "kvs"
    case hasMore = "more"
    case count
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    values = try container.decodeIfPresent([KeyValue].self, forKey: .values) ?? []
    hasMore = try container.decodeIfPresent(Bool.self, forKey: .hasMore) ?? false
    count = try container.decodeIfPresent(GatewayInteger.self, forKey: .count)?.value ?? 0
  }
}

struct TransactionReply: Decodable, Sendable {
  let revision: Int64
  /// Indicates whether all conditions were met.
  let hasSucceeded: Bool
  /// The replies to the ranges that were requested, in their order.
  let ranges: [RangeReply]

  private enum CodingKeys: String, CodingKey {
    case header, responses
    case hasSucceeded = "succeeded"
  }

  private struct Response: Decodable {
    let range: RangeReply?

    private enum CodingKeys: String, CodingKey {
      case range = "response_range"
    }
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    revision = try container.decode(ReplyHeader.self, forKey: .header).revision
    hasSucceeded = try container.decodeIfPresent(Bool.self, forKey: .hasSucceeded) ?? false
    ranges = (try container.decodeIfPresent([Response].self, forKey: .responses) ?? [])
      .compactMap(\.range)
  }
}

struct LeaseReply: Decodable, Sendable {
  let id: Int64
  let seconds: Int64

  private enum CodingKeys: String, CodingKey {
    case id = "ID"
    case seconds = "TTL"
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    id = try container.decode(GatewayInteger.self, forKey: .id).value
    seconds = try container.decode(GatewayInteger.self, forKey: .seconds).value
  }
}

/// The state of a node.
struct StatusReply: Decodable, Sendable {
  let version: String
  let databaseSize: Int64
  /// The identifier of the leader, or 0 if there is none.
  let leader: UInt64
  /// The alarms of the cluster, for example "memberID:1 alarm:NOSPACE".
  let alarms: [String]

  private enum CodingKeys: String, CodingKey {
    case version, leader
    case alarms = "errors"
    case databaseSize = "dbSize"
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    version = try container.decode(String.self, forKey: .version)
    databaseSize =
      try container.decodeIfPresent(GatewayInteger.self, forKey: .databaseSize)?.value ?? 0
    leader = try container.decodeIfPresent(String.self, forKey: .leader).flatMap { UInt64($0) } ?? 0
    alarms = try container.decodeIfPresent([String].self, forKey: .alarms) ?? []
  }
}

/// A request for the changes of all keys in a range from a revision on.
struct WatchRequest: Encodable, Sendable {
  let key: EtcdKey
  let end: EtcdKey
  let startRevision: Int64

  private enum CodingKeys: String, CodingKey { case create = "create_request" }

  private enum Field: String, CodingKey {
    case key, fragment
    case end = "range_end"
    case startRevision = "start_revision"
  }

  init(_ range: EtcdRange, from startRevision: Int64) {
    (key, end) = (range.start, range.end)
    self.startRevision = startRevision
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    var create = container.nestedContainer(keyedBy: Field.self, forKey: .create)
    try create.encode(key, forKey: .key)
    try create.encode(end, forKey: .end)
    try create.encode("\(startRevision)", forKey: .startRevision)
    // Otherwise, all changes since the revision would be one message.
    try create.encode(true, forKey: .fragment)
  }
}

/// A message of a watch.
struct WatchReply: Decodable, Sendable {
  /// The revision of the database when the message was sent.
  let revision: Int64
  let isCreated: Bool
  /// Indicates whether the watch has ended, although its connection stays open.
  let isCanceled: Bool
  let events: [Event]

  struct Event: Decodable, Sendable {
    let isRemoval: Bool
    let value: KeyValue

    private enum CodingKeys: String, CodingKey {
      case type
      case value = "kv"
    }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      isRemoval = try container.decodeIfPresent(String.self, forKey: .type) == "DELETE"
      value = try container.decode(KeyValue.self, forKey: .value)
    }
  }

  private enum CodingKeys: String, CodingKey { case result, error }

  private enum Field: String, CodingKey {
    case header, events
    case isCreated = "created"
    case isCanceled = "canceled"
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    guard container.contains(.result) else {
      // An error in the middle of a stream.
      (revision, isCreated, isCanceled, events) = (0, false, true, [])
      return
    }
    let result = try container.nestedContainer(keyedBy: Field.self, forKey: .result)
    revision = try result.decodeIfPresent(ReplyHeader.self, forKey: .header)?.revision ?? 0
    isCreated = try result.decodeIfPresent(Bool.self, forKey: .isCreated) ?? false
    isCanceled = try result.decodeIfPresent(Bool.self, forKey: .isCanceled) ?? false
    events = try result.decodeIfPresent([Event].self, forKey: .events) ?? []
  }
}

struct UserReply: Decodable, Sendable {
  /// The names of the user's roles.
  let roles: [String]?
}

/// A role, which allows access to ranges.
struct RoleReply: Decodable, Sendable {
  private let permissions: [Permission]?

  private enum CodingKeys: String, CodingKey { case permissions = "perm" }

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
