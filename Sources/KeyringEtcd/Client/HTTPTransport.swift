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
///
/// It gets the parts of a reply as they arrive. The client's asynchronous functions would need a free thread of
/// the cooperative thread pool to end a request by its deadline or its cancellation.
final class HTTPTransport: EtcdTransport {
  private let client: HTTPClient
  /// The client for replies that don't end.
  ///
  /// Its connections may be silent.
  private let streaming: HTTPClient

  /// The thread of all other connections.
  ///
  /// With several threads, a request and its connection would often have different ones.
  static let thread = MultiThreadedEventLoopGroup(numberOfThreads: 1)

  /// The thread of the replies that don't end, which also runs what takes their lines.
  ///
  /// Requests don't wait for an observer or for the source of a key.
  static let streamingThread = EventLoopExecutor()

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
      eventLoopGroup: Self.streamingThread.eventLoop, configuration: configurationOfStreams)
    client = HTTPClient(eventLoopGroup: Self.thread, configuration: configuration)
  }

  /// Makes the system notice if a connection that is silent, or isn't used at the moment, is lost.
  ///
  /// A firewall or a load balancer may forget such a connection, and tells neither side.
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
    let exchange = Exchange()
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
    let exchange = Exchange(onLine)
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
    } catch is EndOfInterest {
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

/// An executor that runs tasks on the thread of an event loop.
final class EventLoopExecutor: TaskExecutor {
  let eventLoop: any EventLoop = MultiThreadedEventLoopGroup(numberOfThreads: 1).next()

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    eventLoop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}

/// A request and its reply, which arrives in parts on an event loop.
private final class Exchange: HTTPClientResponseDelegate {
  private struct State: Sendable {
    var wasSent = false
    var status: HTTPResponseStatus?
    var date: String?
    /// The bytes of the reply that weren't passed on as lines.
    var bytes: [UInt8] = []
    /// The task that passes on the last lines, and returns `false` if no others are needed.
    var reading: Task<Bool, Never>?
    /// The number of parts with lines so far.
    var partCount = 0
  }

  /// The number of parts that may wait for the task.
  private static let backlog = 16

  /// The most bytes of a reply: a page of items, each as large as possible, in base64.
  private static let largestReply = 256 << 20

  private let state = Mutex(State())
  private let onLine: (@Sendable ([UInt8]) async -> Bool)?

  /// Creates an exchange.
  ///
  /// - Parameter onLine: A closure that gets each line of the reply, and returns `false` to end the request.
  ///   If it's `nil`, the reply is returned as a whole.
  init(_ onLine: (@Sendable ([UInt8]) async -> Bool)? = nil) { self.onLine = onLine }

  /// Indicates whether a node may have got any of the bytes of the request.
  var wasSent: Bool { state.withLock(\.wasSent) }

  /// The time of the node's clock when it answered, as HTTP writes it.
  var date: String? { state.withLock(\.date) }

  var hasLine: Bool { state.withLock { $0.partCount > 0 } }

  /// Returns the body of the request.
  ///
  /// The client asks for its bytes as soon as it has a connection, and not before.
  func sending(_ bytes: [UInt8]) -> HTTPClient.Body {
    .stream(contentLength: Int64(bytes.count)) { writer in
      self.state.withLock { $0.wasSent = true }
      return writer.write(.byteBuffer(ByteBuffer(bytes: bytes)))
    }
  }

  func didReceiveHead(
    task: HTTPClient.Task<[UInt8]>, _ head: HTTPResponseHead
  ) -> EventLoopFuture<Void> {
    state.withLock { ($0.status, $0.date) = (head.status, head.headers.first(name: "Date")) }
    return task.eventLoop.makeSucceededVoidFuture()
  }

  func didReceiveBodyPart(
    task: HTTPClient.Task<[UInt8]>, _ part: ByteBuffer
  ) -> EventLoopFuture<Void> {
    let newline = UInt8(ascii: "\n")
    let lines: [ArraySlice<UInt8>]? = state.withLock { state in
      state.bytes += part.readableBytesView
      if state.bytes.count > Self.largestReply { return nil }
      guard onLine != nil, state.status == .ok, part.readableBytesView.contains(newline) else {
        return []
      }
      var lines = state.bytes.split(separator: newline, omittingEmptySubsequences: false)
      state.bytes = lines.popLast().map(Array.init) ?? []
      return lines
    }
    guard let lines else {
      return task.eventLoop.makeFailedFuture(NIOTooManyBytesError(maxBytes: Self.largestReply))
    }
    guard let onLine, !lines.isEmpty else { return task.eventLoop.makeSucceededVoidFuture() }
    return state.withLock { state in
      state.partCount += 1
      // The next part waits for these lines now and then, because each wait wakes the event loop.
      let mustWait = state.partCount.isMultiple(of: Self.backlog)
      let done = mustWait ? task.eventLoop.makePromise(of: Void.self) : nil
      let previous = state.reading
      state.reading = Task(executorPreference: HTTPTransport.streamingThread) {
        defer { done?.succeed() }
        guard await previous?.valueOrCancellation != false else { return false }
        for line in lines where await !onLine(Array(line)) {
          task.fail(reason: EndOfInterest())
          return false
        }
        return true
      }
      return done?.futureResult ?? task.eventLoop.makeSucceededVoidFuture()
    }
  }

  func didFinishRequest(task: HTTPClient.Task<[UInt8]>) throws -> [UInt8] {
    let (status, bytes) = state.withLock { ($0.status, $0.bytes) }
    if status == .ok { return bytes }
    if let error = try? JSONDecoder().decode(GatewayError.self, from: Data(bytes)) {
      throw EtcdFailure(cause: .refused(error), hasDoubt: error.isTransient)
    }
    let text = "\(status?.code ?? 0) \(String(decoding: bytes.prefix(200), as: UTF8.self))"
    switch status {
    // A proxy may allow less than the node behind it.
    case .payloadTooLarge: throw EtcdFailure(cause: .refused(.tooLarge))
    case .badGateway, .serviceUnavailable, .gatewayTimeout:
      throw EtcdFailure(cause: .lost(text), hasDoubt: true)
    default:
      // A node or a proxy gives these answers instead of processing the request.
      let wasRefused = [.badRequest, .unauthorized, .notFound, .methodNotAllowed].contains(status)
      throw EtcdFailure(cause: .malformed(text), hasDoubt: !wasRefused)
    }
  }

  /// Waits until the lines that came before the end of the request are done.
  func finishLines() async { _ = await state.withLock(\.reading)?.valueOrCancellation }

  func cancelLines() { state.withLock(\.reading)?.cancel() }
}

extension Task<Bool, Never> {
  /// The value of the task, which is cancelled with the task that waits for it.
  fileprivate var valueOrCancellation: Bool {
    get async {
      await withTaskCancellationHandler {
        await value
      } onCancel: {
        cancel()
      }
    }
  }
}

/// The end of a request whose other lines aren't needed.
private struct EndOfInterest: Error {}

extension HTTPClientError {
  /// Indicates whether a node answered too late, or a connection wasn't ready in time.
  fileprivate var isTimeout: Bool {
    [.deadlineExceeded, .tlsHandshakeTimeout, .connectTimeout, .getConnectionFromPoolTimeout]
      .contains(self)
  }
}

extension HTTPClient.Task<[UInt8]> {
  /// Waits for the reply, and cancels the request if the task is cancelled.
  fileprivate func reply() async throws -> [UInt8] {
    try await withTaskCancellationHandler {
      try await get()
    } onCancel: {
      cancel()
    }
  }
}
#endif
