// SPDX-License-Identifier: Apache-2.0

#if Etcd
internal import KeyringRuntime
internal import KeyringStorage

/// Reads in several parts, all as the items were at the moment of the first part.
struct Snapshot {
  private let operation: FleetOperation
  private var first: (keys: NamespaceKeys, revision: Int64)?

  init(_ operation: FleetOperation) { self.operation = operation }

  /// The revision of all parts.
  var revision: Int64 { first?.revision ?? 0 }

  /// Reads a part.
  ///
  /// - Parameter requests: A closure that returns the requests, of which there are at most
  ///   ``Transaction/rangeLimit``.
  /// - Returns: The keys and the replies, or `nil` to read all parts again: between two of them, the keys were
  ///   changed, or the history was compacted.
  /// - Throws: `SecureStorageError` from the cluster.
  mutating func read(
    _ requests: (NamespaceKeys) -> [RangeRequest]
  ) async throws(SecureStorageError) -> (keys: NamespaceKeys, replies: [RangeReply])? {
    let moment = first?.revision
    let part: (keys: NamespaceKeys, replies: [RangeReply], revision: Int64)
    do throws(SecureStorageError) {
      part = try await operation.read { keys in
        requests(keys).map { request in
          var request = request
          request.revision = moment
          return request
        }
      }
    } catch {
      if first != nil, let cause = error.underlying, cause.domain == "etcd",
        cause.code == Self.unknownRevision
      {
        return nil
      }
      throw error
    }
    first = first ?? (part.keys, part.revision)
    // A read of many parts has no total time limit.
    operation.renew()
    // Newer keys don't decrypt what was there at the moment of the first part.
    guard first?.keys.conditions == part.keys.conditions else { return nil }
    return (part.keys, part.replies)
  }

  typealias Page = (keys: NamespaceKeys, reply: RangeReply)

  /// Reads the first values in a range, or returns `nil` to read all parts again.
  mutating func page(
    of range: EtcdRange, _ limit: Int
  ) async throws(SecureStorageError) -> Page? {
    var request = RangeRequest(range)
    request.limit = limit
    guard let part = try await read({ [request] _ in [request] }) else { return nil }
    guard let reply = part.replies.first else {
      throw operation.fleet.settings.error(for: .malformed("a reply without a range"))
    }
    return (part.keys, reply)
  }

  /// The code of etcd's answer to a request for a revision that is no longer there, or isn't there yet.
  private static let unknownRevision = 11
}

extension FleetOperation {
  /// Calls a closure with new snapshots, a few times, and returns its first result.
  func withSnapshot<Result>(
    _ body: (inout Snapshot) async throws(SecureStorageError) -> Result?
  ) async throws(SecureStorageError) -> Result {
    for _ in 0..<Self.mostIdleRounds {
      var snapshot = Snapshot(self)
      if let result = try await body(&snapshot) { return result }
    }
    throw outpaced
  }

  /// The number of fruitless attempts after which work in many steps gives up.
  static var mostIdleRounds: Int { 10 }

  /// The error for work that other changes have undone each time.
  var outpaced: SecureStorageError {
    fleet.settings.error(
      .timedOut, "The items and keys of the cluster change faster than they can be read.")
  }

  /// Reads all values in ranges, page by page, as they were at one moment.
  ///
  /// - Parameters:
  ///   - ranges: The ranges.
  ///   - most: The number of results that are enough.
  ///   - transform: A closure that returns what to keep of a value.
  /// - Returns: The results of the closure, and the revision.
  /// - Throws: `SecureStorageError` from the cluster or the closure.
  func list<Element>(
    _ ranges: [EtcdRange], first most: Int = .max,
    _ transform: (KeyValue, NamespaceKeys) throws(SecureStorageError) -> Element?
  ) async throws(SecureStorageError) -> (elements: [Element], revision: Int64) {
    try await withSnapshot { (snapshot) throws(SecureStorageError) in
      var elements: [Element] = []
      func take(_ page: Snapshot.Page) throws(SecureStorageError) {
        for value in page.reply.values {
          if let element = try transform(value, page.keys) { elements.append(element) }
        }
      }
      var limit = Self.firstPageLimit
      for var range in ranges where elements.count < most {
        guard var page = try await snapshot.page(of: range, limit) else { return nil }
        while page.reply.hasMore, let last = page.reply.values.last {
          limit = Self.pageLimit(after: page.reply.values)
          range.start = last.key.next
          // The next page is on its way while the values of this one are decrypted.
          async let next = Result { [snapshot, range, limit] () async throws(SecureStorageError) in
            var snapshot = snapshot
            return try await snapshot.page(of: range, limit)
          }
          // On the thread of a synchronous call, the request is sent now.
          await Task.yield()
          try take(page)
          if elements.count >= most { return (elements, snapshot.revision) }
          guard let following = try await next.get() else { return nil }
          page = following
        }
        try take(page)
      }
      return (elements, snapshot.revision)
    }
  }

  /// The most values of a page.
  static var pageLimit: Int { 100 }

  /// The most values of a first page, which shows how large the values are.
  static var firstPageLimit: Int { 10 }

  /// Returns the most values of the next page, which should have no more than 1 MiB.
  ///
  /// A node has little time for its answer before another one is asked.
  static func pageLimit(after values: [KeyValue]) -> Int {
    let size = values.reduce(0) { $0 + $1.value.count }
    return size == 0 ? firstPageLimit : min(pageLimit, max(1, (values.count << 20) / size))
  }
}
#endif
