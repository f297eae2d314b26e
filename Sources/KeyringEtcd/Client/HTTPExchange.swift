// SPDX-License-Identifier: Apache-2.0

#if Etcd
internal import AsyncHTTPClient
internal import NIOCore
internal import NIOHTTP1
internal import Synchronization

/// A request and its reply, which arrives in parts on an event loop.
final class HTTPExchange: HTTPClientResponseDelegate {
  private struct State: Sendable {
    var wasSent = false
    var status: HTTPResponseStatus?
    var date: String?
    /// The bytes of the whole reply, or those that wait for the end of their line.
    var bytes: [UInt8] = []
    /// The task that passes on the last lines, and returns `false` after enough of them.
    var reading: Task<Bool, Never>?
    /// The number of parts with lines so far.
    var partCount = 0
  }

  /// The number of parts that may wait for the task.
  private static let backlog = 16

  /// The most bytes of a reply: a page of items, each as large as possible, in base64.
  private static let largestReply = 256 << 20

  /// The end of a request after enough lines.
  struct EndOfInterest: Error {}

  private let state = Mutex(State())
  private let onLine: (@Sendable ([UInt8]) async -> Bool)?
  private let isAuthentication: Bool

  /// Creates an exchange.
  ///
  /// - Parameters:
  ///   - isAuthentication: `true` for a request with a password.
  ///   - onLine: A closure that gets each line of the reply, and returns `false` to end the request. With `nil`,
  ///     the reply is returned as a whole.
  init(isAuthentication: Bool = false, _ onLine: (@Sendable ([UInt8]) async -> Bool)? = nil) {
    (self.isAuthentication, self.onLine) = (isAuthentication, onLine)
  }

  /// `true` from the moment on in which a node may have got bytes of the request.
  var wasSent: Bool { state.withLock(\.wasSent) }

  /// The time of the node's clock when it answered, as HTTP writes it.
  var date: String? { state.withLock(\.date) }

  var hasLine: Bool { state.withLock { $0.partCount > 0 } }

  /// Returns the body of the request.
  ///
  /// The client asks for its bytes only after it has a connection.
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
      state.reading = Task(executorPreference: EventLoopExecutor.streaming) {
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
    if var error = try? GatewayError(json: bytes) {
      error.message = quotation(error.message)
      throw EtcdFailure(cause: .refused(error), hasDoubt: error.isTransient)
    }
    let text =
      "\(status?.code ?? 0) \(quotation(String(decoding: bytes.prefix(1000), as: UTF8.self)))"
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

  /// Returns what an error may say of a reply.
  ///
  /// A proxy may answer with the request. Of a reply to a password, an error has only what the client knows itself.
  private func quotation(_ reply: String) -> String {
    if !isAuthentication { return reply }
    return EtcdFailure.knownTexts.filter(reply.contains).joined(separator: ", ")
  }

  /// Waits for the lines that came before the end of the request.
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
#endif
