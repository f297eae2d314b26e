// SPDX-License-Identifier: Apache-2.0

#if Etcd
internal import AsyncHTTPClient
internal import KeyringPlatform
internal import KeyringRuntime
internal import NIOCore
internal import NIOHTTP1
internal import NIOSSL

/// etcd's JSON gateway over HTTP/1.1.
///
/// It gets the parts of a reply as they arrive. The client's asynchronous functions would need a free thread of
/// the cooperative thread pool to end a request by its deadline or its cancellation.
final class HTTPTransport: EtcdTransport {
  private let client: HTTPClient
  /// The client for endless replies.
  ///
  /// Its connections may be silent.
  private let streaming: HTTPClient

  init(_ tls: TLSConfiguration?) {
    var tls = tls ?? .makeClientConfiguration()
    // NIOSSL would accept TLS 1.0.
    tls.minimumTLSVersion = .tlsv12
    var configuration = HTTPClient.Configuration(tlsConfiguration: tls)
    // With HTTP/2, requests on one connection can hold up a watch: etcd issue 15402.
    configuration.httpVersion = .http1Only
    configuration.redirectConfiguration = .disallow
    // Another node is tried instead.
    configuration.connectionPool.retryConnectionEstablishment = false
    configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 64
    // A request ends by its own deadline. A connection whose handshake takes longer serves the next request.
    // No other connection is tried in the meantime.
    configuration.timeout.connect = .seconds(5)
    configuration.http1_1ConnectionDebugInitializer = Self.keepAlive
    var configurationOfStreams = configuration
    // Each reply that doesn't end keeps its connection.
    configurationOfStreams.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = .max
    streaming = HTTPClient(
      eventLoopGroup: EventLoopExecutor.streaming.eventLoop, configuration: configurationOfStreams)
    client = HTTPClient(
      eventLoopGroup: EventLoopExecutor.requests.eventLoop, configuration: configuration)
  }

  /// Makes the system notice the loss of a silent or idle connection.
  ///
  /// A firewall or a load balancer may forget such a connection in silence.
  private static func keepAlive(_ channel: any Channel) -> EventLoopFuture<Void> {
    var options = [channel.setOption(.socketOption(.so_keepalive), value: 1)]
    #if os(Linux)
    for (name, value) in [(TCP_KEEPIDLE, 5), (TCP_KEEPINTVL, 5), (TCP_KEEPCNT, 2)] {
      options.append(channel.setOption(.tcpOption(.init(rawValue: name)), value: value))
    }
    #endif
    return .andAllSucceed(options, on: channel.eventLoop)
  }

  deinit {
    // Connections that are idle close. Requests hold the transport, so there are none.
    client.shutdown { _ in }
    streaming.shutdown { _ in }
  }

  func send(
    _ path: String, _ body: [UInt8], to endpoint: EtcdEndpoint, token: String?, until moment: Int64
  ) async throws(EtcdFailure) -> EtcdReply {
    let exchange = HTTPExchange(isAuthentication: path == EtcdTokens.authenticationPath)
    do {
      let request = try request(
        path, body.isEmpty ? nil : exchange.sending(body), endpoint, token)
      let reply = try await client.execute(
        request: request, delegate: exchange, deadline: deadline(moment)
      ).reply()
      return EtcdReply(body: reply, date: exchange.date)
    } catch {
      throw failure(error, wasSent: exchange.wasSent)
    }
  }

  func stream(
    _ path: String, _ body: [UInt8], to endpoint: EtcdEndpoint, token: String?, until moment: Int64,
    _ onLine: @escaping @Sendable ([UInt8]) async -> Bool
  ) async throws(EtcdFailure) {
    let exchange = HTTPExchange(onLine)
    do {
      let request = try request(path, exchange.sending(body), endpoint, token)
      let task = streaming.execute(request: request, delegate: exchange)
      let limit = task.eventLoop.scheduleTask(deadline: deadline(moment)) {
        if !exchange.hasLine { task.fail(reason: HTTPClientError.deadlineExceeded) }
      }
      defer { limit.cancel() }
      let outcome = await withTaskCancellationHandler {
        await Result { () async throws in try await task.reply() }
      } onCancel: {
        exchange.cancelLines()
      }
      await exchange.finishLines()
      _ = try outcome.get()
    } catch is HTTPExchange.EndOfInterest {
      return
    } catch {
      throw failure(error, wasSent: exchange.wasSent)
    }
  }

  private func request(
    _ path: String, _ body: HTTPClient.Body?, _ endpoint: EtcdEndpoint, _ token: String?
  ) throws -> HTTPClient.Request {
    var request = try HTTPClient.Request(
      url: endpoint.description + path, method: body == nil ? .GET : .POST, body: body)
    request.headers.add(name: "Content-Type", value: "application/json")
    // Without a leader, etcd answers at once instead of after seven seconds, and ends a watch.
    request.headers.add(name: "Grpc-Metadata-hasleader", value: "true")
    if let token { request.headers.add(name: "Authorization", value: token) }
    return request
  }

  private func deadline(_ moment: Int64) -> NIODeadline {
    .now() + .microseconds(max(0, moment - ThreadExecutor.now))
  }

  private func failure(_ error: any Error, wasSent: Bool) -> EtcdFailure {
    if let failure = error as? EtcdFailure { return failure }
    let cause: EtcdFailure.Cause =
      switch error {
      case let error as HTTPClientError where error == .cancelled: .canceled
      case let error as HTTPClientError where error.isTimeout: .timedOut
      // A load balancer whose node is down closes the connection.
      case NIOSSLError.handshakeFailed(.sslError([.eofDuringHandshake])): .unreachable("\(error)")
      case is NIOSSLError, is NIOSSLExtraError, is BoringSSLError:
        // Other errors aren't about trust, such as that of a node that doesn't encrypt.
        EtcdFailure.isAboutCertificate("\(error)") ? .untrusted("\(error)") : .malformed("\(error)")
      default: wasSent ? .lost("\(error)") : .unreachable("\(error)")
      }
    return EtcdFailure(cause: cause, hasDoubt: wasSent)
  }
}

extension HTTPClientError {
  /// `true` for a late answer or a connection that took too long.
  fileprivate var isTimeout: Bool {
    [.deadlineExceeded, .tlsHandshakeTimeout, .connectTimeout, .getConnectionFromPoolTimeout]
      .contains(self)
  }
}

extension HTTPClient.Task<[UInt8]> {
  /// Waits for the reply, and cancels the request together with the task.
  fileprivate func reply() async throws -> [UInt8] {
    try await withTaskCancellationHandler {
      try await get()
    } onCancel: {
      cancel()
    }
  }
}
#endif
