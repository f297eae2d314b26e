// SPDX-License-Identifier: Apache-2.0

/// The moments at which waits time out, the next one first.
struct Timers {
  private var entries: [(end: Int64, waiter: Waiter)] = []
  /// The number of leading entries that were taken out.
  private var first = 0
  /// The number of entries at which finished waits are removed.
  private var limit = 64

  /// The next moment, in microseconds of the monotonic clock.
  var next: Int64? { first < entries.count ? entries[first].end : nil }

  mutating func add(_ waiter: Waiter, at moment: Int64) {
    if entries.count >= limit {
      entries.removeFirst(first)
      first = 0
      entries.removeAll { $0.waiter.isOver }
      limit = max(64, 2 * entries.count)
    }
    // The new entry is usually the last one.
    var index = entries.count
    while index > first, entries[index - 1].end > moment { index -= 1 }
    entries.insert((moment, waiter), at: index)
  }

  /// Removes and returns the waits whose time is up.
  mutating func takeLate(_ now: Int64) -> [Waiter] {
    var late: [Waiter] = []
    while first < entries.count {
      let (end, waiter) = entries[first]
      if !waiter.isOver {
        guard end <= now else { break }
        late.append(waiter)
      }
      first += 1
    }
    return late
  }
}
