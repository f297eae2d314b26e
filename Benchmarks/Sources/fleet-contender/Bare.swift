// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPClient
import Contending
import Foundation
import Keyring
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// A node of the cluster, asked by the same HTTP client without the library.
final class BareNode {
  private let client: HTTPClient

  /// The thread of the connections, one as in the library.
  private static let thread = MultiThreadedEventLoopGroup(numberOfThreads: 1)

  init() throws {
    var tls = TLSConfiguration.makeClientConfiguration()
    tls.trustRoots = .file(Sample.variable("FLEET_AUTHORITIES"))
    tls.certificateChain = try NIOSSLCertificate.fromPEMFile(Sample.variable("FLEET_CERTIFICATE"))
      .map { .certificate($0) }
    tls.privateKey = .privateKey(
      try NIOSSLPrivateKey(file: Sample.variable("FLEET_PRIVATE_KEY"), format: .pem))
    var configuration = HTTPClient.Configuration(tlsConfiguration: tls)
    configuration.httpVersion = .http1Only
    client = HTTPClient(eventLoopGroup: Self.thread, configuration: configuration)
  }

  deinit { try? client.syncShutdown() }

  /// Sends a request, and returns the bytes of the reply.
  func send(_ path: String, _ body: ByteBuffer) throws -> ByteBuffer {
    let headers: HTTPHeaders = [
      "Content-Type": "application/json", "Grpc-Metadata-hasleader": "true",
    ]
    let request = try HTTPClient.Request(
      url: Sample.endpoints[0] + path, method: .POST, headers: headers, body: .byteBuffer(body))
    return try client.execute(request: request, deadline: .now() + .seconds(10)).wait().body
      ?? ByteBuffer()
  }

  /// Returns the value of a key, or all values under a prefix that ends with "/".
  func values(of key: String) throws -> [StoredValue] {
    struct Reply: Decodable { let kvs: [StoredValue]? }
    let end = key.hasSuffix("/") ? base64(key.dropLast() + "0") : ""  // "0" comes after "/"
    let body = #"{"key":"\#(base64(key))","limit":1000,"range_end":"\#(end)"}"#
    let reply = try send("/v3/kv/range", ByteBuffer(string: body))
    return try JSONDecoder().decode(Reply.self, from: Data(reply.readableBytesView)).kvs ?? []
  }
}

/// A value, with its key, as the gateway returns it.
struct StoredValue: Decodable {
  let key: String
  let value: String
}

func base64(_ text: some StringProtocol) -> String { Data(text.utf8).base64EncodedString() }

/// Sends the transaction that the library sends to read an item.
struct BareRead: Work {
  private let node: BareNode
  private let body: ByteBuffer
  private var reply = ByteBuffer()

  init() throws {
    node = try BareNode()
    let root = "/\(Sample.namespace)/v1/"
    guard let meta = try node.values(of: root + "meta").first,
      let primary = try node.values(of: root + "primary").first,
      let item = try node.values(of: root + "items/").first
    else { throw Failure("there is no namespace with an item") }
    let conditions = [meta, primary].map {
      #"{"key":"\#($0.key)","result":"EQUAL","target":"VALUE","value":"\#($0.value)"}"#
    }
    let ranges = [meta, primary, item].map { #"{"request_range":{"key":"\#($0.key)"}}"# }
    let keys = (base64(root + "keys/"), base64(root + "keys0"))
    body = ByteBuffer(
      string: """
        {"compare":[\(conditions[0]),\(conditions[1])],"failure":[\(ranges[0]),\(ranges[1]),\
        {"request_range":{"key":"\(keys.0)","range_end":"\(keys.1)"}}],"success":[\(ranges[2])]}
        """)
  }

  mutating func perform() throws { reply = try node.send("/v3/kv/txn", body) }

  func check() throws {
    let text = String(buffer: reply)
    guard text.contains(#""succeeded":true"#), text.contains(#""kvs":"#) else {
      throw Failure("the item wasn't read")
    }
  }
}
