// SPDX-License-Identifier: Apache-2.0

#if Etcd && os(Linux)
import Foundation
import KeyringRuntime
import KeyringStorage
import Synchronization
import TestPrograms

@testable import KeyringEtcd

/// A transport that loses or holds back requests of another transport.
final class FaultyTransport: EtcdTransport {
  enum Fault {
    /// The request arrives, and its reply is lost.
    case replyLost
    /// The request doesn't arrive.
    case requestLost
    /// The request arrives when the test releases it. Its sender thinks that it's lost.
    case held
    /// The request arrives after something else has happened.
    case late(@Sendable () async -> Void)
  }

  /// A closure that returns what a hostile node makes of a request or of a reply.
  typealias Change = @Sendable (String) throws(EtcdFailure) -> String

  private typealias Held = @Sendable () async -> Result<EtcdReply, EtcdFailure>

  private let base: any EtcdTransport
  /// The faults of the next transactions that create something.
  private let faults = Mutex<[Fault]>([])
  private let cancels = Atomic(false)
  private let held = Mutex<[Held]>([])
  private let changes = Mutex<(request: Change?, reply: Change?)>((nil, nil))
  /// The permission to hand out a reply that was held back.
  private let replies = TaskSemaphore(1)
  private let holdsReply = Atomic(false)
  private let isHoldingReply = Atomic(false)
  private let counts = Mutex<[String: Int]>([:])

  /// A message that each watch gets instead of all others, after which its connection stays open.
  let lastMessage = Mutex<String?>(nil)

  /// A closure that is called before each watch begins.
  let beforeWatch = Mutex<(@Sendable () async -> Void)?>(nil)

  /// Whether no node can be reached.
  let isCut = Atomic(false)
  /// The address of the only node that can be reached, or `nil` if all of them can be.
  let onlyNode = Mutex<String?>(nil)
  /// The different transactions that store something.
  private let writes = Mutex<Set<[UInt8]>>([])
  private let openWatches = Atomic(0)
  /// The beginnings of the ranges that were watched.
  private let watched = Mutex<Set<Substring>>([])
  /// The number of watches that haven't ended.
  var openWatchCount: Int { openWatches.load(ordering: .relaxed) }
  /// The number of bytes of all replies so far, without those of watches.
  let bytes = Atomic(0)
  /// The number of bytes of the largest of these replies.
  let largestReply = Atomic(0)
  /// The number of bytes of the largest reply to a write.
  let largestReplyToWrite = Atomic(0)

  /// The number of requests so far.
  var count: Int { counts.withLock { $0.values.reduce(0, +) } }

  /// The number of requests of a kind so far.
  func count(of path: String) -> Int { counts.withLock { $0[path] ?? 0 } }

  /// The number of writes so far, each of which may have been sent several times.
  var writeCount: Int { writes.withLock(\.count) }

  /// The number of ranges that have been watched.
  var watchCount: Int { watched.withLock(\.count) }

  init(_ base: any EtcdTransport) { self.base = base }

  func fail(_ faults: Fault...) { fail(faults) }
  func fail(_ faults: [Fault]) { self.faults.withLock { $0 = faults } }

  /// Fails in the same way, and cancels the task that sends the first request.
  func failAndCancel(_ faults: [Fault]) {
    cancels.store(true, ordering: .relaxed)
    fail(faults)
  }

  /// Returns the failure of a request that is lost.
  private func loss() -> EtcdFailure {
    guard cancels.exchange(false, ordering: .relaxed) else {
      return EtcdFailure(cause: .lost("a test"), hasDoubt: true)
    }
    withUnsafeCurrentTask { $0?.cancel() }
    return EtcdFailure(cause: .canceled, hasDoubt: true)
  }

  /// Asks for another key instead of one, as a hostile node could.
  func redirect(_ key: EtcdKey, to other: EtcdKey) {
    let names = (
      Data(key.path.utf8).base64EncodedString(), Data(other.path.utf8).base64EncodedString()
    )
    alter(requests: { $0.replacing(names.0, with: names.1) })
  }

  /// Changes all requests and replies from now on, except for the replies to writes.
  func alter(requests: Change? = nil, replies: Change? = nil) {
    changes.withLock { $0 = (requests, replies) }
  }

  private func altered(_ body: [UInt8], _ change: Change?) throws(EtcdFailure) -> [UInt8] {
    guard let change else { return body }
    return Array(try change(String(decoding: body, as: UTF8.self)).utf8)
  }

  /// Sends the requests that were held back, and returns their replies.
  func release() async -> [Result<EtcdReply, EtcdFailure>] {
    let requests = held.withLock { held in
      defer { held = [] }
      return held
    }
    var replies: [Result<EtcdReply, EtcdFailure>] = []
    for request in requests { replies.append(await request()) }
    return replies
  }

  /// Calls a closure while the reply to the next request is held back.
  func holdingNextReply(_ body: () async throws -> Void) async throws {
    _ = await replies.take(until: nil)
    defer { replies.giveBack() }
    holdsReply.store(true, ordering: .relaxed)
    try await body()
  }

  /// Waits until a reply is held back.
  func waitForHeldReply() -> Bool { waitUntil { isHoldingReply.load(ordering: .relaxed) } }

  func send(
    _ path: String, _ body: [UInt8], to endpoint: EtcdEndpoint, token: String?, until moment: Int64
  ) async throws(EtcdFailure) -> EtcdReply {
    counts.withLock { $0[path, default: 0] += 1 }
    try checkWay(to: endpoint)
    let changes = changes.withLock { $0 }
    let body = try altered(body, changes.request)
    guard String(decoding: body, as: UTF8.self).contains("request_put") else {
      let reply = try altered(
        try await base.send(path, body, to: endpoint, token: token, until: moment).body,
        changes.reply)
      bytes.add(reply.count, ordering: .relaxed)
      largestReply.max(reply.count, ordering: .relaxed)
      if holdsReply.exchange(false, ordering: .relaxed) {
        isHoldingReply.store(true, ordering: .relaxed)
        _ = await replies.take(until: nil)
        replies.giveBack()
      }
      return EtcdReply(body: reply)
    }
    writes.withLock { _ = $0.insert(body) }
    let fault = faults.withLock { $0.isEmpty ? nil : $0.removeFirst() }
    switch fault {
    case .requestLost: throw loss()
    case .replyLost:
      _ = try await base.send(path, body, to: endpoint, token: token, until: moment)
      throw loss()
    case .held:
      let base = base
      held.withLock { held in
        held.append {
          do throws(EtcdFailure) {
            return .success(
              try await base.send(
                path, body, to: endpoint, token: token, until: .now(plus: .seconds(10))))
          } catch {
            return .failure(error)
          }
        }
      }
      throw loss()
    case .late(let event): await event()
    case nil: break
    }
    let reply = try await base.send(path, body, to: endpoint, token: token, until: moment)
    largestReplyToWrite.max(reply.body.count, ordering: .relaxed)
    return reply
  }

  private func checkWay(to endpoint: EtcdEndpoint) throws(EtcdFailure) {
    let isHidden = onlyNode.withLock { $0 != nil && $0 != endpoint.description }
    if isHidden || isCut.load(ordering: .relaxed) {
      throw EtcdFailure(cause: .unreachable("a test"))
    }
  }

  func stream(
    _ path: String, _ body: [UInt8], to endpoint: EtcdEndpoint, token: String?, until moment: Int64,
    _ onLine: @escaping @Sendable ([UInt8]) async -> Bool
  ) async throws(EtcdFailure) {
    // A question for the cluster of a node isn't a watch.
    if body == GatewayJSON.encode(WatchRequest.identification) {
      try checkWay(to: endpoint)
      return try await base.stream(path, body, to: endpoint, token: token, until: moment, onLine)
    }
    let words = String(decoding: body, as: UTF8.self).split(separator: "\"")
    if let index = words.firstIndex(of: "key"), index + 2 < words.count {
      watched.withLock { _ = $0.insert(words[index + 2]) }
    }
    await beforeWatch.withLock { $0 }?()
    try checkWay(to: endpoint)
    openWatches.add(1, ordering: .relaxed)
    defer { openWatches.subtract(1, ordering: .relaxed) }
    let onLine: @Sendable ([UInt8]) async -> Bool = { line in
      await onLine(self.lastMessage.withLock { $0.map { Array($0.utf8) } } ?? line)
    }
    try await base.stream(path, body, to: endpoint, token: token, until: moment, onLine)
  }
}
#endif
