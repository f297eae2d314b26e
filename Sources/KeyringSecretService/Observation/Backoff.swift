// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
/// The wait before the next attempt, which doubles each time up to five seconds.
struct Backoff {
  private var length = Duration.milliseconds(50)
  /// The deadline at which the wait is over.
  private(set) var deadline = Deadline(after: .zero)

  var isOver: Bool { deadline.remaining == .zero }

  mutating func lengthen() {
    length = min(length * 2, .seconds(5))
    deadline = Deadline(after: length)
  }
}
#endif
