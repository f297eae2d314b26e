#if SecretService && os(Linux)
internal import CLibSecret

/// How long to wait before something is tried again: twice as long each time, up to five seconds.
struct Pause {
  private var length = 50_000
  /// On the monotonic clock, in microseconds.
  private var end = 0

  private var now: Int { Int(g_get_monotonic_time()) }

  var isOver: Bool { end <= now }

  /// When it is over.
  var deadline: Deadline { Deadline(after: .microseconds(max(0, end - now))) }

  mutating func lengthen() {
    length = min(length * 2, 5_000_000)
    end = now + length
  }
}
#endif
