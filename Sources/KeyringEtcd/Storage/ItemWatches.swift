// SPDX-License-Identifier: Apache-2.0

#if Etcd
internal import Synchronization

/// The watches of a storage, which observers of the same items share.
final class ItemWatches: Sendable {
  private let watches = Mutex<[EtcdRange: ItemWatch]>([:])

  private var all: [ItemWatch] { watches.withLock { Array($0.values) } }

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

  /// Returns `true` for a place where a watch reports each change.
  func follow(_ place: EtcdKey) -> Bool {
    watches.withLock { watches in
      watches.values.contains { $0.follows(EtcdRange(place)) }
    }
  }

  /// Tells the watches what the user may read.
  func noticeRead(of requests: [RangeRequest]) {
    for watch in all { watch.noticeRead(of: requests.map(\.range)) }
  }

  /// Lists the items of all watches again.
  func forgetHistory() {
    for watch in all { watch.forgetHistory() }
  }
}
#endif
