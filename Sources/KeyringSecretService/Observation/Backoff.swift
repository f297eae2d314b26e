// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
internal import CLibSecret

/// The wait before the next attempt, which doubles each time up to five seconds.
struct Backoff {
  private var length = 50_000
  /// The end of the wait, in microseconds of the monotonic clock.
  private var end = 0

  private var now: Int { Int(g_get_monotonic_time()) }

  var isOver: Bool { end <= now }

  /// The deadline at which the wait is over.
  var deadline: Deadline { Deadline(after: .microseconds(max(0, end - now))) }

  mutating func lengthen() {
    length = min(length * 2, 5_000_000)
    end = now + length
  }
}
#endif
