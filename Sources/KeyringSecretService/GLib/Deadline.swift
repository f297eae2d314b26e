#if SecretService && os(Linux)
internal import CLibSecret

/// The moment by which an operation must have ended, on the monotonic clock.
///
/// One deadline covers all messages of an operation. The time that a prompt was in front of a
/// person does not count.
struct Deadline {
  /// In microseconds.
  private(set) var end: Int64

  init(after duration: Duration) {
    let (seconds, attoseconds) = min(duration, .seconds(1 << 30)).components
    end = Self.now + seconds * 1_000_000 + attoseconds / 1_000_000_000_000
  }

  private static var now: Int64 { Int64(g_get_monotonic_time()) }

  var hasPassed: Bool { Self.now >= end }

  /// The time left, rounded up, so that a timer of this length never fires too early.
  var milliseconds: guint {
    guint(clamping: (max(0, end - Self.now) + 999) / 1000)
  }

  /// Runs something that takes a person's time, and moves the deadline by as long as it took.
  mutating func pausing<Result, Failure: Error>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let start = Self.now
    defer { end += Self.now - start }
    return try body()
  }
}
#endif
