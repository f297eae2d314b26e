// SPDX-License-Identifier: Apache-2.0

#if Etcd
internal import KeyringPlatform

/// Requests and replies as JSON.
enum GatewayJSON {
  /// Returns a request as JSON, with the same bytes each time.
  static func encode(_ request: some Encodable) -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // JSON has no infinity, and no request contains it.
    guard let data = try? encoder.encode(request) else {
      preconditionFailure("requests consist of text and numbers")
    }
    return Array(data)
  }

  static func decode<Reply: Decodable>(_ bytes: [UInt8]) throws(EtcdFailure) -> Reply {
    do {
      return try Reply(json: bytes)
    } catch {
      throw EtcdFailure(
        cause: .malformed("a reply without the expected fields"), hasDoubt: true)
    }
  }
}

extension Decodable {
  /// Reads a whole document.
  init(json: [UInt8]) throws { self = try JSONDecoder().decode(Self.self, from: Data(json)) }
}
#endif
