// SPDX-License-Identifier: Apache-2.0

#if Etcd
internal import KeyringPlatform
internal import KeyringRuntime
internal import KeyringSealing
internal import KeyringStorage
internal import NIOPosix
internal import NIOSSL
internal import Synchronization

/// The state that the copies of a storage share: the connections, the keys, and what is known of the items.
final class Fleet: Sendable {
  struct Settings: Sendable {
    let endpoints: [String]
    let namespace: String
    let tls: EtcdTLS?
    let user: EtcdUser?
    let timeout: Duration
  }

  /// An item as this process last wrote or read it.
  struct KnownItem: Sendable {
    let record: ItemRecord
    let revision: Int64
  }

  let settings: Settings
  let source: Mutex<KeySource>
  private let transport: (any EtcdTransport)?
  private let connection = Mutex<(client: EtcdClient, namespace: Namespace)?>(nil)
  private let keys = Mutex<NamespaceKeys?>(nil)
  /// The permission to ask for the key, for one task at a time.
  private let asking = TaskSemaphore(1)
  /// The items that were used last.
  ///
  /// A program that uses more items reads each before writing it.
  let known = RecentValues<ItemKey, KnownItem>()
  /// The keys of the reads that haven't ended, once for each read.
  private let reading = Mutex<[ItemKey: Int]>([:])
  let reported = Mutex(ReportedItems())
  /// The records of writes whose fate no node has told, with their leases.
  let doubts = Mutex<[EtcdKey: Int64]>([:])
  /// The permission to settle the doubts.
  let settling = TaskSemaphore(1)
  private let lease = Mutex<Lease?>(nil)
  private let watches = Mutex<[EtcdRange: ItemWatch]>([:])

  /// Creates the state of a storage that isn't connected yet.
  ///
  /// - Parameters:
  ///   - settings: The settings of the storage.
  ///   - source: The source of the key.
  ///   - transport: The way to send requests, or `nil` for the JSON gateway.
  init(_ settings: Settings, _ source: KeySource, transport: (any EtcdTransport)? = nil) {
    self.settings = settings
    self.transport = transport
    self.source = Mutex(source)
  }

  // MARK: - Connections

  /// Runs an operation, and fills in its name in its errors.
  func perform<Result>(
    _ name: SecureStorageError.Operation,
    _ body: (Operation) async throws(SecureStorageError) -> Result
  ) async throws(SecureStorageError) -> Result {
    do throws(SecureStorageError) {
      if ForkedProcess.hasLostThreads {
        throw error(
          .other, ForkedProcess.message, recoverySuggestion: ForkedProcess.recoverySuggestion)
      }
      if ThreadExecutor.ofCurrentTask?.isSynchronous == true,
        MultiThreadedEventLoopGroup.currentEventLoop != nil
      {
        throw error(
          .other, "A synchronous call would block the event loop's thread.",
          recoverySuggestion: "Use await.")
      }
      if Task.isCancelled { throw error(.canceled) }
      if ThreadExecutor.ofCurrentTask == nil, let shortage = ThreadExecutor.ofOthers.missingThread {
        throw error(shortage)
      }
      let (client, namespace) = try connected()
      let operation = Operation(self, client, namespace, name)
      // An observation and a diagnosis answer no author.
      if ![.observe, .diagnose].contains(name) { try await operation.settleDoubts() }
      if ![.initialize, .diagnose].contains(name), currentKeys == nil {
        _ = try await operation.readKeys()
      }
      return try await body(operation)
    } catch {
      var error = error
      error.operation = name
      throw error
    }
  }

  private func connected() throws(SecureStorageError) -> (EtcdClient, Namespace) {
    try connection.withLock { (connection) throws(SecureStorageError) in
      if let connection { return connection }
      guard let namespace = Namespace(settings.namespace) else {
        throw error(
          .invalidArgument,
          """
          The argument "namespace" must consist of letters, digits, "-", ".", "_" and "/", and no part between \
          slashes may be empty or "v1".
          """,
          argument: "namespace")
      }
      let endpoints = settings.endpoints.compactMap { EtcdEndpoint($0) }
      guard !endpoints.isEmpty, endpoints.count == settings.endpoints.count else {
        throw error(
          .invalidArgument,
          "The argument \"endpoints\" must be addresses such as https://etcd-1.example.org:2379.",
          argument: "endpoints")
      }
      try checkEncryption(of: endpoints)
      // Without the descriptors and the threads of its two loops, NIO ends the process.
      if transport == nil, let shortage = Shortage.before(descriptors: 8, threads: 4) {
        throw error(shortage)
      }
      let transport: any EtcdTransport =
        if let transport { transport } else { HTTPTransport(try tlsConfiguration()) }
      let client = EtcdClient(transport, endpoints, user: settings.user) { [weak self] in
        self?.forgetHistory()
      }
      let new = (client, namespace)
      connection = new
      return new
    }
  }

  /// Refuses addresses to which a password would go without encryption.
  private func checkEncryption(of endpoints: [EtcdEndpoint]) throws(SecureStorageError) {
    let plain = endpoints.filter { !$0.isEncrypted }
    if plain.isEmpty { return }
    let isMixed = plain.count < endpoints.count
    let isExposed = settings.tls != nil || settings.user != nil
    guard isMixed || isExposed && !plain.allSatisfy(\.isLoopback) else { return }
    throw error(
      .invalidArgument,
      isMixed
        ? "The addresses must all begin with https://, or all with http://."
        : "The password or the certificate is for encrypted connections, but an address begins with http://.",
      recoverySuggestion:
        """
        Use https:// in \(plain.map(\.description).joined(separator: ", ")). Only a node on this machine needs no \
        encryption.
        """,
      argument: "endpoints")
  }

  private func tlsConfiguration() throws(SecureStorageError) -> TLSConfiguration? {
    do throws(FileFailure) {
      return try settings.tls?.configuration()
    } catch {
      throw self.error(
        .invalidArgument, "The file \(error.problem).",
        recoverySuggestion: "It must be readable, and in the PEM format.", argument: "tls",
        underlying: error.underlying)
    }
  }

  // MARK: - Keys

  /// The keys that were read last.
  var currentKeys: NamespaceKeys? { keys.withLock { $0 } }

  /// Takes over keys from etcd.
  ///
  /// An observation and a diagnosis never ask the user, and don't wait for the answer to another operation.
  ///
  /// Replies can arrive in another order than the requests were processed. If other keys were taken over since
  /// the request was sent, those are returned.
  ///
  /// - Parameters:
  ///   - replies: The replies to ``NamespaceKeys/requests(_:)``.
  ///   - operation: The operation that has sent the requests.
  ///   - sent: The keys that were known when the requests were sent.
  /// - Returns: The keys of the replies, or newer ones.
  /// - Throws: `SecureStorageError` if the keys can't be used.
  func takeKeys(
    _ replies: some Sequence<RangeReply>, _ operation: Operation, after sent: NamespaceKeys?
  ) async throws(SecureStorageError) -> NamespaceKeys {
    try await operation.pausing { () async throws(SecureStorageError) in
      let purpose: KeyRequest.Purpose =
        [.observe, .diagnose].contains(operation.name) ? .inspection : .opening
      if purpose == .opening {
        guard await asking.take(until: nil) == .ended else { throw error(.canceled) }
      }
      defer { if purpose == .opening { asking.giveBack() } }
      let known = currentKeys
      if let known, known.conditions != sent?.conditions { return known }
      let new = try await NamespaceKeys(
        replies.flatMap(\.values), of: operation.namespace, known: known, source.withLock { $0 },
        keyRequest(purpose))
      return keys.withLock { keys in
        if let newer = keys, newer.conditions != known?.conditions { return newer }
        keys = new
        return new
      }
    }
  }

  func keyRequest(_ purpose: KeyRequest.Purpose) -> KeyRequest {
    KeyRequest(
      purpose, for: "namespace \(settings.namespace)", backendName: "\(EtcdStorage.self)")
  }

  /// The keys of the items that this process has used or is about to.
  var usedKeys: Set<ItemKey> {
    // A read that ends in between has made its item known.
    let current = reading.withLock { Set($0.keys) }
    return current.union(known.keys)
  }

  /// Runs a read of items by key.
  func whileReading<Result>(
    _ keys: [ItemKey], _ body: () async throws(SecureStorageError) -> Result
  ) async throws(SecureStorageError) -> Result {
    reading.withLock { reading in for key in keys { reading[key, default: 0] += 1 } }
    defer {
      reading.withLock { reading in
        for key in keys {
          let others = (reading[key] ?? 1) - 1
          reading[key] = others > 0 ? others : nil
        }
      }
    }
    return try await body()
  }

  // MARK: - Watches

  /// Returns a watch that reports the items in a range, and perhaps others.
  func watch(_ range: EtcdRange) -> ItemWatch {
    watches.withLock { watches in
      if let running = watches.values.first(where: { $0.follows(range) }) { return running }
      if let known = watches[range] { return known }
      let new = ItemWatch(range)
      watches[range] = new
      return new
    }
  }

  /// Tells the watches what the user may read.
  func noticeRead(of requests: [RangeRequest]) {
    // Without a user, there are no roles.
    if settings.user == nil { return }
    for watch in watches.withLock({ Array($0.values) }) {
      watch.noticeRead(of: requests.map(\.range))
    }
  }

  /// Returns the encrypted item in a place as an event has brought it, if no later event can be missing.
  func reportedValue(at place: EtcdKey) -> KeyValue? {
    // The author of a write in doubt reads the cluster, which ends the doubt.
    guard doubts.withLock(\.isEmpty) else { return nil }
    let isFollowed = watches.withLock { watches in
      watches.values.contains { $0.follows(EtcdRange(place)) }
    }
    return isFollowed ? reported.withLock { $0.value(at: place) } : nil
  }

  /// Forgets everything that has a revision, because the cluster was restored from a backup.
  ///
  /// In another history, the same revisions are those of other changes.
  private func forgetHistory() {
    known.removeAll()
    lease.withLock { $0 = nil }
    reported.withLock { $0.forgetHistory() }
    for watch in watches.withLock({ Array($0.values) }) { watch.forgetHistory() }
  }

  /// Records a revision in which this process has read or written items.
  func see(_ revision: Int64) { reported.withLock { $0.see(revision) } }

  // MARK: - Lease

  /// The lease that the records of this process's writes belong to.
  ///
  /// It isn't kept alive. When it ends, etcd removes the records, and refuses copies of the requests that
  /// name it.
  struct Lease: Sendable {
    let id: Int64
    /// The moment until which new writes may use it.
    let end: Int64
  }

  /// Returns the lease for a write that ends at a moment.
  func lease(_ operation: Operation) async throws(EtcdFailure) -> Int64 {
    if let lease = lease.withLock({ $0 }), ThreadExecutor.now < lease.end { return lease.id }
    let time = min(max(60, Int(settings.timeout.microseconds / 1_000_000) + 1), Self.longestWrite)
    let start = ThreadExecutor.now
    let reply: LeaseReply
    do throws(EtcdFailure) {
      reply = try await operation.client.grantLease(seconds: 3 * time, until: operation.end)
    } catch {
      // Without a lease, nothing was written.
      throw EtcdFailure(cause: error.cause, hasDoubt: false)
    }
    // A write that begins before the end has at least a third of the lease left.
    let usable = Duration.seconds(reply.seconds.value) - .seconds(2 * time)
    let lease = Lease(id: reply.id.value, end: start + usable.microseconds)
    self.lease.withLock { $0 = lease }
    return lease.id
  }

  /// The longest time that a lease is made for, in seconds.
  private static let longestWrite = 24 * 60 * 60

  /// Forgets a lease that etcd doesn't know any more.
  func forgetLease(_ id: Int64) {
    lease.withLock { if $0?.id == id { $0 = nil } }
  }
}
#endif
