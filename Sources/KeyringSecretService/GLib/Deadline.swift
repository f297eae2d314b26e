// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
internal import KeyringRuntime

/// The time at which an operation must have ended.
///
/// A deadline is a moment on the monotonic clock. The operation must also end when its task is cancelled.
///
/// One deadline covers all messages of an operation. The time that a prompt is in front of the user doesn't
/// count. If there are too many messages to send them all concurrently, they renew the deadline.
struct Deadline {
  /// The end of the operation, in microseconds of the monotonic clock.
  private(set) var end: Int64
  private var length: Int64
  /// The time that renewals have added.
  private var renewed: Int64 = 0

  init(after duration: Duration) {
    length = duration.microseconds
    end = ThreadExecutor.now + length
  }

  /// A deadline that practically never passes.
  ///
  /// A wait with this deadline ends by something else or with its task.
  static var never: Deadline { Deadline(after: .seconds(1 << 30)) }

  /// The error of an operation that must end now, or `nil` for one that may continue.
  // Not inlined: dozens of places use it, and each would contain its code.
  @inline(never)
  var failure: DBusError? {
    if Task.isCancelled { return .canceled }
    return ThreadExecutor.now >= end ? .timedOut : nil
  }

  /// The remaining time.
  var remaining: Duration { .microseconds(max(0, end - ThreadExecutor.now)) }

  /// Starts the deadline again with its full length.
  ///
  /// A provider that keeps answering isn't silent.
  mutating func renew() {
    let new = max(end, ThreadExecutor.now + length)
    renewed += new - end
    end = new
  }

  /// Moves the deadline back to the time without renewals, and prevents further renewals.
  mutating func forgetRenewals() {
    end -= renewed
    (renewed, length) = (0, 0)
  }

  /// Extends the deadline by the time that a pause has taken.
  mutating func add(_ pause: Pause) { end += ThreadExecutor.now - pause.start }

  /// A period that doesn't count, which begins when the value is created.
  struct Pause {
    fileprivate let start = ThreadExecutor.now
  }
}
#endif
