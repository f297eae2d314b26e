// SPDX-License-Identifier: Apache-2.0

#if Etcd
internal import AsyncHTTPClient
internal import KeyringFoundation
internal import KeyringLibc
internal import KeyringStorage
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import NIOSSL
internal import Synchronization

/// etcd's JSON gateway over HTTP/1.1.
final class HTTPTransport: EtcdTransport {
  private let client: HTTPClient
  /// The client for replies that don't end.
  ///
  /// Its connections may be silent.
  private let streaming: HTTPClient

  /// The most bytes of a reply: a page of items, each as large as possible, in base64.
  private static let largestReply = 256 << 20

  init(_ tls: TLSConfiguration?) {
    var configuration = HTTPClient.Configuration(tlsConfiguration: tls)
    // With HTTP/2, requests on one connection can hold up a watch: etcd issue 15402.
    configuration.httpVersion = .http1Only
    configuration.redirectConfiguration = .disallow
    // Another node is tried instead.
    configuration.connectionPool.retryConnectionEstablishment = false
    configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 64
    // A request ends by its own deadline. A handshake that takes longer is there for the next one. No other
    // connection is tried in the meantime.
    configuration.timeout.connect = .seconds(5)
    var configurationOfStreams = configuration
    // Each reply that doesn't end keeps its connection.
    configurationOfStreams.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = .max
    streaming = HTTPClient(
      eventLoopGroup: .singletonMultiThreadedEventLoopGroup,
      configuration: configurationOfStreams)
    // A node that stops in the middle of a reply counts as lost.
    configuration.timeout.read = .seconds(5)
    client = HTTPClient(
      eventLoopGroup: .singletonMultiThreadedEventLoopGroup, configuration: configuration)
  }

  deinit {
    // Connections that are idle close. Requests hold the transport, so there are none.
    client.shutdown { _ in }
    streaming.shutdown { _ in }
  }

  func send(
    _ path: String, _ body: [UInt8], to endpoint: EtcdEndpoint, token: String?, until moment: Int64
  ) async throws(EtcdFailure) -> [UInt8] {
    let body = RequestBody(body)
    do {
      let response = try await client.response(path, body, endpoint, token, moment)
      return try await bytes(of: response, until: moment)
    } catch {
      throw failure(error, wasSent: body.wasTaken)
    }
  }

  func stream(
    _ path: String, _ body: [UInt8], to endpoint: EtcdEndpoint, token: String?, until moment: Int64,
    _ onLine: ([UInt8]) async -> Bool
  ) async throws(EtcdFailure) {
    let body = RequestBody(body)
    do {
      let response = try await streaming.response(path, body, endpoint, token, moment)
      if response.status != .ok { _ = try await bytes(of: response) }
      var line: [UInt8] = []
      for try await part in response.body {
        var rest = part.readableBytesView
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
          line += rest[..<end]
          let isOver = await !onLine(line)
          if isOver { return }
          line = []
          rest = rest[(end + 1)...]
        }
        line += rest
      }
    } catch {
      throw failure(error, wasSent: body.wasTaken)
    }
  }

  /// Returns the rest of a reply.
  ///
  /// The deadline of the request ends only the wait for the head of the reply.
  private func bytes(of response: HTTPClientResponse, until moment: Int64) async throws -> [UInt8] {
    try await withThrowingTaskGroup { group in
      group.addTask { try await self.bytes(of: response) }
      group.addTask {
        let wait = await Waiter.wait(until: moment) { _ in }
        throw wait == .canceled ? EtcdFailure.canceled : .timedOut
      }
      defer { group.cancelAll() }
      return try await group.next() ?? []
    }
  }

  private func bytes(of response: HTTPClientResponse) async throws -> [UInt8] {
    var reply = try await response.body.collect(upTo: Self.largestReply)
    let bytes = reply.readBytes(length: reply.readableBytes) ?? []
    if response.status == .ok { return bytes }
    throw failure(response.status, bytes)
  }

  private func failure(_ status: HTTPResponseStatus, _ body: [UInt8]) -> EtcdFailure {
    if let error = try? JSONDecoder().decode(GatewayError.self, from: Data(body)) {
      return .refused(error)
    }
    let text = String(decoding: body.prefix(200), as: UTF8.self)
    return .malformed("\(status.code) \(text)")
  }

  private func failure(_ error: any Error, wasSent: Bool) -> EtcdFailure {
    switch error {
    case let failure as EtcdFailure: return failure
    case is CancellationError: return .canceled
    case let error as HTTPClientError where error == .cancelled: return .canceled
    // A load balancer whose node is down closes the connection.
    case NIOSSLError.handshakeFailed(.sslError([.eofDuringHandshake])): break
    case is NIOSSLError, is NIOSSLExtraError, is BoringSSLError: return .untrusted("\(error)")
    default: break
    }
    guard wasSent else { return .unreachable("\(error)") }
    return error as? HTTPClientError == .deadlineExceeded ? .timedOut : .lost("\(error)")
  }
}

/// The bytes of a request, which know whether they were sent.
///
/// The client takes them as soon as it has a connection, and not before.
private struct RequestBody: RandomAccessCollection, Sendable {
  private final class Use: Sendable { let hasBegun = Atomic(false) }

  private let bytes: [UInt8]
  private let use = Use()

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Indicates whether a node may have got any of the bytes.
  var wasTaken: Bool { use.hasBegun.load(ordering: .acquiring) }

  var startIndex: Int { 0 }
  var endIndex: Int { bytes.count }
  subscript(position: Int) -> UInt8 { bytes[position] }

  func withContiguousStorageIfAvailable<Result>(
    _ body: (UnsafeBufferPointer<UInt8>) throws -> Result
  ) rethrows -> Result? {
    use.hasBegun.store(true, ordering: .releasing)
    return try bytes.withUnsafeBufferPointer(body)
  }
}

extension HTTPClient {
  /// Sends a request, and returns the reply as soon as it begins.
  fileprivate func response(
    _ path: String, _ body: RequestBody, _ endpoint: EtcdEndpoint, _ token: String?,
    _ moment: Int64
  ) async throws -> HTTPClientResponse {
    var request = HTTPClientRequest(url: endpoint.description + path)
    request.method = .POST
    request.headers.add(name: "Content-Type", value: "application/json")
    // Without a leader, etcd answers at once instead of after seven seconds, and ends a watch.
    request.headers.add(name: "Grpc-Metadata-hasleader", value: "true")
    if let token { request.headers.add(name: "Authorization", value: token) }
    request.body = .bytes(body)
    let deadline = NIODeadline.now() + .microseconds(max(0, moment - ThreadExecutor.now))
    return try await execute(request, deadline: deadline)
  }
}
#endif
