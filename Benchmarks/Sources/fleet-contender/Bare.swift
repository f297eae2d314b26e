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
struct BareNode: Sendable {
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

  /// Sends a request, and returns the bytes of the reply.
  func send(_ path: String, _ body: ByteBuffer) async throws -> ByteBuffer {
    var request = HTTPClientRequest(url: Sample.endpoints[0] + path)
    request.method = .POST
    request.headers.add(name: "Content-Type", value: "application/json")
    request.headers.add(name: "Grpc-Metadata-hasleader", value: "true")
    request.body = .bytes(body)
    let response = try await client.execute(request, deadline: .now() + .seconds(10))
    return try await response.body.collect(upTo: 1 << 30)
  }

  /// Returns the value of a key, or all values under a prefix that ends with "/".
  func values(of key: String) async throws -> [StoredValue] {
    struct Reply: Decodable { let kvs: [StoredValue]? }
    let end = key.hasSuffix("/") ? base64(key.dropLast() + "0") : ""  // "0" comes after "/"
    let body = #"{"key":"\#(base64(key))","limit":1000,"range_end":"\#(end)"}"#
    let reply = try await send("/v3/kv/range", ByteBuffer(string: body))
    return try JSONDecoder().decode(Reply.self, from: Data(reply.readableBytesView)).kvs ?? []
  }

  func newLease() async throws -> Int {
    let reply = try await send("/v3/lease/grant", ByteBuffer(string: #"{"TTL":600}"#))
    let fields = try JSONSerialization.jsonObject(with: Data(reply.readableBytesView))
    guard let id = ((fields as? [String: Any])?["ID"] as? String).flatMap(Int.init) else {
      throw Failure("there is no lease")
    }
    return id
  }
}

/// A value, with its key, as the gateway returns it.
struct StoredValue: Decodable {
  let key: String
  let value: String
  let revision: String

  private enum CodingKeys: String, CodingKey {
    case key, value
    case revision = "mod_revision"
  }
}

func base64(_ text: some StringProtocol) -> String { Data(text.utf8).base64EncodedString() }

/// The parts of requests that are the same in all transactions on a namespace.
struct BareNamespace {
  let root = "/\(Sample.namespace)/v1/"
  private let meta: StoredValue
  private let primary: StoredValue
  let items: [StoredValue]

  init(_ node: BareNode) async throws {
    guard let meta = try await node.values(of: root + "meta").first,
      let primary = try await node.values(of: root + "primary").first
    else { throw Failure("there is no namespace") }
    (self.meta, self.primary) = (meta, primary)
    items = try await node.values(of: root + "items/")
  }

  /// The conditions that each transaction has.
  var conditions: [String] {
    [meta, primary].map {
      #"{"key":"\#($0.key)","result":"EQUAL","target":"VALUE","value":"\#($0.value)"}"#
    }
  }

  func condition(_ key: String, _ revision: String) -> String {
    #"{"key":"\#(key)","mod_revision":"\#(revision)","result":"EQUAL","target":"MOD"}"#
  }

  func range(_ key: String) -> String { #"{"request_range":{"key":"\#(key)"}}"# }

  /// The requests for the keys, with which each failed transaction replies.
  var ranges: [String] {
    [
      range(meta.key), range(primary.key),
      """
      {"request_range":{"key":"\(base64(root + "keys/"))","range_end":"\(base64(root + "keys0"))"}}
      """,
    ]
  }

  func transaction(_ compare: [String], _ success: [String], _ failure: [String]) -> ByteBuffer {
    let lists = [compare, failure, success].map { $0.joined(separator: ",") }
    return ByteBuffer(
      string: #"{"compare":[\#(lists[0])],"failure":[\#(lists[1])],"success":[\#(lists[2])]}"#)
  }
}

/// Sends the transaction that the library sends to read items.
struct BareRead: Work {
  private let node: BareNode
  private let body: ByteBuffer
  private let count: Int
  private var reply = ByteBuffer()

  init(count: Int = 1) async throws {
    node = try BareNode()
    let namespace = try await BareNamespace(node)
    self.count = count
    body = namespace.transaction(
      namespace.conditions, namespace.items.prefix(count).map { namespace.range($0.key) },
      namespace.ranges)
  }

  mutating func perform() async throws { reply = try await node.send("/v3/kv/txn", body) }

  func check() throws {
    let text = String(buffer: reply)
    let found = text.components(separatedBy: #""kvs":"#).count - 1
    guard text.contains(#""succeeded":true"#), found == count else {
      throw Failure("the items weren't read")
    }
  }
}

/// Sends the transactions that the library sends to list all items, one after the other.
///
/// It knows from the beginning where each page begins, and looks at no reply.
struct BareList: Work {
  private let node: BareNode
  private var bodies: [ByteBuffer] = []
  private var expected = 0
  private var received = 0

  init() async throws {
    struct Reply: Decodable {
      struct Header: Decodable { let revision: String }
      struct Response: Decodable {
        struct Page: Decodable {
          let kvs: [StoredValue]?
          let more: Bool?
        }
        let page: Page
        private enum CodingKeys: String, CodingKey { case page = "response_range" }
      }
      let header: Header
      let responses: [Response]
    }
    node = try BareNode()
    let namespace = try await BareNamespace(node)
    var start = base64(namespace.root + "items/")
    let end = base64(namespace.root + "items0")
    var (limit, revision) = (10, "0")
    var page: Reply.Response.Page
    repeat {
      let range =
        #"{"key":"\#(start)","limit":\#(limit),"range_end":"\#(end)","revision":"\#(revision)"}"#
      bodies.append(
        namespace.transaction(
          namespace.conditions, [#"{"request_range":\#(range)}"#], namespace.ranges))
      let bytes = try await node.send("/v3/kv/txn", bodies[bodies.count - 1])
      expected += bytes.readableBytes
      let reply = try JSONDecoder().decode(Reply.self, from: Data(bytes.readableBytesView))
      guard let found = reply.responses.first?.page, let last = found.kvs?.last,
        let key = Data(base64Encoded: last.key)
      else { throw Failure("there is no page") }
      page = found
      (limit, revision) = (100, reply.header.revision)
      start = (key + [0]).base64EncodedString()
    } while page.more == true
  }

  mutating func perform() async throws {
    received = 0
    for body in bodies { received += try await node.send("/v3/kv/txn", body).readableBytes }
  }

  func check() throws {
    guard received == expected else { throw Failure("other pages were read") }
  }
}

/// Sends the transactions that the library sends to replace an item.
struct BareWrite: Work {
  private let node: BareNode
  private let namespace: BareNamespace
  private let lease: Int
  /// Whether the item is read first.
  private let readsFirst: Bool
  private var number = 0
  private var bodies: [ByteBuffer] = []
  private var reply = ByteBuffer()

  init(readsFirst: Bool) async throws {
    node = try BareNode()
    namespace = try await BareNamespace(node)
    lease = try await node.newLease()
    self.readsFirst = readsFirst
  }

  /// The key, which is as long as an item's key.
  ///
  /// In the place of an item, it would count as a damaged one.
  private var place: String {
    namespace.root + "bares/" + String(repeating: readsFirst ? "1" : "2", count: 32) + "/"
      + String(repeating: "0", count: 32)
  }

  mutating func prepare() async throws {
    number += 1
    let key = base64(place)
    let known = try await node.values(of: place).first
    let id = String(lease, radix: 16) + String(number, radix: 16)
    let write = base64(
      namespace.root + "writes/" + String(repeating: "0", count: 32) + "/"
        + String(repeating: "0", count: 32 - id.count) + id)
    let value = namespace.items[0].value
    bodies = [
      namespace.transaction(
        namespace.conditions + [
          namespace.condition(write, "0"), namespace.condition(key, known?.revision ?? "0"),
        ],
        [
          #"{"request_put":{"key":"\#(key)","value":"\#(value)"}}"#,
          """
          {"request_put":{"key":"\(write)","lease":"\(lease)","value":"\(base64("done"))"}}
          """,
        ], [namespace.range(write), namespace.range(key)] + namespace.ranges)
    ]
    if readsFirst {
      bodies.insert(
        namespace.transaction(
          namespace.conditions, [namespace.range(key)], namespace.ranges), at: 0)
    }
  }

  mutating func perform() async throws {
    for body in bodies { reply = try await node.send("/v3/kv/txn", body) }
  }

  func check() throws {
    guard String(buffer: reply).contains(#""succeeded":true"#) else {
      throw Failure("nothing was written")
    }
  }
}
