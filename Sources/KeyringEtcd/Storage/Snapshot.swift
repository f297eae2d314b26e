// SPDX-License-Identifier: Apache-2.0

#if Etcd
internal import KeyringStorage

/// Reads in several parts, all as the items were at the moment of the first part.
struct Snapshot {
  private let operation: Operation
  private var first: (keys: NamespaceKeys, revision: Int64)?

  init(_ operation: Operation) { self.operation = operation }

  /// The revision of all parts.
  var revision: Int64 { first?.revision ?? 0 }

  /// Reads a part.
  ///
  /// - Parameter requests: A closure that returns the requests, of which there are at most
  ///   ``Transaction/rangeLimit``.
  /// - Returns: The keys and the replies, or `nil` if all parts must be read again: between two of them, the
  ///   keys were changed, or the history was compacted.
  /// - Throws: `SecureStorageError` if the cluster can't be read.
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

  /// The code of etcd's answer to a request for a revision that is no longer there, or isn't there yet.
  private static let unknownRevision = 11
}

extension Operation {
  /// Calls a closure with a new snapshot until it returns a result, a few times.
  func withSnapshot<Result>(
    _ body: (inout Snapshot) async throws(SecureStorageError) -> Result?
  ) async throws(SecureStorageError) -> Result {
    for _ in 0..<Self.mostIdleRounds {
      var snapshot = Snapshot(self)
      if let result = try await body(&snapshot) { return result }
    }
    throw outpaced
  }

  /// The number of times that work in many steps begins again without any progress.
  static var mostIdleRounds: Int { 10 }

  /// The error for work that other changes have undone every time.
  var outpaced: SecureStorageError {
    fleet.error(
      .timedOut, "The items and keys of the cluster change faster than they can be read.")
  }

  /// Reads all values in ranges, page by page, as they were at one moment.
  ///
  /// - Parameters:
  ///   - ranges: The ranges.
  ///   - most: The number of results after which no other page is read.
  ///   - transform: A closure that returns what to keep of a value.
  /// - Returns: The results of the closure, and the revision.
  /// - Throws: `SecureStorageError` if the cluster can't be read, or the error of the closure.
  func list<Element>(
    _ ranges: [EtcdRange], first most: Int = .max,
    _ transform: (KeyValue, NamespaceKeys) throws(SecureStorageError) -> Element?
  ) async throws(SecureStorageError) -> (elements: [Element], revision: Int64) {
    try await withSnapshot { (snapshot) throws(SecureStorageError) in
      var elements: [Element] = []
      var limit = Self.firstPageLimit
      for var range in ranges {
        var hasMore = true
        while hasMore, elements.count < most {
          var request = RangeRequest(range)
          request.limit = limit
          guard let page = try await snapshot.read({ [request] _ in [request] }) else { return nil }
          guard let reply = page.replies.first else {
            throw fleet.error(for: .malformed("a reply without a range"))
          }
          for value in reply.values {
            if let element = try transform(value, page.keys) { elements.append(element) }
          }
          hasMore = reply.hasMore
          limit = Self.pageLimit(after: reply.values)
          if let last = reply.values.last { range.start = last.key.next }
        }
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
