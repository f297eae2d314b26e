#if SecretService && os(Linux)
internal import CLibSecret
internal import KeyringStorage

/// When an operation must have ended: at a moment on the monotonic clock, or when its task is
/// cancelled.
///
/// One deadline covers all messages of an operation. The time that a prompt was in front of a person
/// doesn't count, and messages that are too many to travel side by side renew it.
struct Deadline {
  /// In microseconds.
  private(set) var end: Int64
  private var length: Int64
  /// By how much it was renewed.
  private var renewed: Int64 = 0

  init(after duration: Duration) {
    length = duration.microseconds
    end = Self.now + length
  }

  /// As good as never; a wait ends by something else, or with its task.
  static var never: Deadline { Deadline(after: .seconds(1 << 30)) }

  fileprivate static var now: Int64 { Int64(g_get_monotonic_time()) }

  /// Why the operation must end now, if it must.
  var failure: BusFailure? {
    if Task.isCancelled { return .canceled }
    return Self.now >= end ? .timedOut : nil
  }

  /// The deadline, or an earlier one after some time.
  func atMost(_ duration: Duration) -> Deadline {
    var deadline = self
    deadline.end = min(end, Deadline(after: duration).end)
    return deadline
  }

  /// The time left, rounded up, so that a timer of this length never fires too early.
  var milliseconds: guint {
    guint(clamping: (max(0, end - Self.now) + 999) / 1000)
  }

  /// Runs something that takes a person's time, and moves the deadline by as long as it took.
  mutating func pausing<Result, Failure: Error>(
    _ body: () async throws(Failure) -> Result
  ) async throws(Failure) -> Result {
    let pause = Pause()
    defer { add(pause) }
    return try await body()
  }

  /// Begins again, as a provider that keeps answering is not silent.
  mutating func renew() {
    let new = max(end, Self.now + length)
    renewed += new - end
    end = new
  }

  /// Ends when it would have ended without renewals.
  mutating func forgetRenewals() {
    end -= renewed
    (renewed, length) = (0, 0)
  }

  /// The same deadline, which nothing renews.
  var fixed: Deadline {
    var deadline = self
    deadline.forgetRenewals()
    return deadline
  }

  /// Moves the deadline by as long as a pause has taken.
  mutating func add(_ pause: Pause) { end += Self.now - pause.start }

  /// A time that does not count, from now on.
  struct Pause {
    fileprivate let start = Deadline.now
  }
}
#endif
