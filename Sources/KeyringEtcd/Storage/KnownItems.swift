// SPDX-License-Identifier: Apache-2.0

#if Etcd
internal import KeyringRuntime
internal import KeyringSealing
internal import KeyringStorage
internal import Synchronization

/// The items that this process has used, is reading, or was told of by a watch.
final class KnownItems: Sendable {
  /// An item as this process last wrote or read it.
  struct Item: Sendable {
    let record: ItemRecord
    let revision: Int64
  }

  /// The items that were used last.
  ///
  /// A program that uses more items reads each before writing it.
  private let used = RecentValues<ItemKey, Item>()
  /// The number of current reads of each key.
  private let reading = Mutex<[ItemKey: Int]>([:])
  private let reported = Mutex(ReportedItems())

  subscript(key: ItemKey) -> Item? {
    get { used[key] }
    set { used[key] = newValue }
  }

  /// The keys of the items that this process has used or is about to.
  var usedKeys: Set<ItemKey> {
    // A read that ends in between has made its item known.
    let current = reading.withLock { Set($0.keys) }
    return current.union(used.keys)
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

  // MARK: - Reports of watches

  /// Records a revision in which this process has read or written items.
  func see(_ revision: Int64) { reported.withLock { $0.see(revision) } }

  /// Takes over the value of an event.
  func report(_ value: KeyValue) { reported.withLock { $0.put(value) } }

  /// Returns the encrypted item in a place as an event has brought it, or `nil` for one to read from the cluster.
  func reportedValue(at place: EtcdKey) -> KeyValue? { reported.withLock { $0.value(at: place) } }

  /// Forgets the values of events after a gap in them.
  func forgetReports() { reported.withLock { $0.forget() } }

  /// Forgets everything that has a revision.
  func forgetHistory() {
    used.removeAll()
    reported.withLock { $0.forgetHistory() }
  }
}

extension KnownItems.Item {
  init(_ item: FleetItem) { self.init(record: item.record, revision: item.revision) }
}
#endif
