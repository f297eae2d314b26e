// SPDX-License-Identifier: Apache-2.0

import KeyringToolCommands

/// A pipe that wakes this program when a signal has arrived.
enum Wake {
  static let signals = [SIGCHLD, SIGWINCH, SIGCONT]
  static let ends = ChildProcess.makePipe()
  static let handler: @convention(c) (Int32) -> Void = { number in
    if number == SIGCONT { ChildProcess.goOn() }
    let error = errno
    _ = write(Wake.ends.writing, "", 1)
    errno = error
  }

  /// Lets the signals arrive that wake this program, which may have been started with blocked ones.
  static func unblock() {
    var signals = sigset_t()
    sigemptyset(&signals)
    for number in Self.signals { sigaddset(&signals, number) }
    pthread_sigmask(SIG_UNBLOCK, &signals, nil)
  }

  static func forget() {
    var bytes = [UInt8](repeating: 0, count: 64)
    while read(ends.reading, &bytes, bytes.count) > 0 {}
  }
}
