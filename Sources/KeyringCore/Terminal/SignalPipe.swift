// SPDX-License-Identifier: Apache-2.0

internal import KeyringPlatform
internal import Synchronization

/// The pipe that signals are written to.
///
/// It stays open, because a handler can run on another thread after the question.
struct SignalPipe: Sendable {
  /// A number in the pipe that wakes the question without a signal, and that `raise` ignores.
  static let noSignal: Int32 = 0

  let reading: Int32

  /// The pipe of the process, or `nil` if the process has too many open files.
  static let shared: SignalPipe? = {
    var ends: [Int32] = [-1, -1]
    guard unsafe pipe(&ends) == 0 else { return nil }
    for end in ends {
      // Neither call can fail for a new descriptor.
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
    }
    writing.store(ends[1], ordering: .releasing)
    return SignalPipe(reading: ends[0])
  }()

  private static let writing = Atomic<Int32>(-1)

  /// Writes the number of a signal to the pipe, with only an async-signal-safe call.
  static let passOn: @convention(c) (Int32) -> Void = { number in
    let error = errno
    var byte = UInt8(truncatingIfNeeded: number)
    // If the pipe is full, enough signals are waiting.
    unsafe write(SignalPipe.writing.load(ordering: .acquiring), &byte, 1)
    errno = error
  }

  /// Returns the number of the next signal, if any.
  func next() -> Int32? {
    var number: UInt8 = 0
    return unsafe read(reading, &number, 1) == 1 ? Int32(number) : nil
  }
}
