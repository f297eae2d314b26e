// SPDX-License-Identifier: Apache-2.0

#if Etcd
internal import KeyringPlatform

/// A transaction, which does one of two lists of steps, depending on conditions.
///
/// The messages are those of https://etcd.io/docs/v3.4/dev-guide/api_grpc_gateway/. The gateway ignores unknown
/// fields: a misspelt condition would make a write unconditional.
struct Transaction: Encodable, Sendable {
  /// The most ranges that a transaction reads; etcd allows 128.
  static let rangeLimit = 100

  var compare: [Comparison] = []
  var success: [Step] = []
  var failure: [Step] = []

  /// A condition on a key.
  struct Comparison: Encodable, Equatable, Sendable {
    let key: EtcdKey
    private let result = "EQUAL"
    private let target: String
    private var revision: String?
    private var creation: String?
    private var value: Data?

    private enum CodingKeys: String, CodingKey {
      case key, value, result, target
      case revision = "mod_revision"
      case creation = "create_revision"
    }

    /// Creates a condition on the revision in which the key was last changed, or 0 for a new key.
    init(_ key: EtcdKey, revision: Int64) {
      (self.key, target, self.revision) = (key, "MOD", "\(revision)")
    }

    /// Creates a condition on the revision in which the key was created, or 0 for a new key.
    init(_ key: EtcdKey, creation: Int64) {
      (self.key, target, self.creation) = (key, "CREATE", "\(creation)")
    }

    init(_ key: EtcdKey, value: [UInt8]) {
      (self.key, target, self.value) = (key, "VALUE", Data(value))
    }
  }

  struct Step: Encodable, Sendable {
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

    static func range(_ request: RangeRequest) -> Step { Step(range: request) }

    static func put(_ key: EtcdKey, _ value: [UInt8], lease: Int64?) -> Step {
      Step(put: Put(key: key, value: Data(value), lease: lease.map { "\($0)" }))
    }

    static func delete(_ key: EtcdKey) -> Step { Step(deletion: RangeRequest(key)) }
  }
}

extension Transaction {
  /// Returns a transaction that a node refuses like a change of this size.
  ///
  /// It only compares a value, so the node answers it alone. etcd limits a message to the
  /// bytes of `--max-request-bytes`, which limit a change, and 512 KiB more.
  static func sizeProbe(for size: Int) -> Transaction {
    Transaction(
      compare: [.init(EtcdKey("/"), value: Array(repeating: 0, count: size + (512 << 10)))])
  }
}
#endif
