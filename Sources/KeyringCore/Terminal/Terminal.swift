// SPDX-License-Identifier: Apache-2.0

internal import KeyringPlatform

/// The terminal of a question, and the state in which it shows what is typed.
struct Terminal {
  let descriptor: Int32
  let shown: termios

  /// Opens the terminal that controls the process, or returns -1 for a process that has none.
  static func openControlling() -> Int32 { unsafe open("/dev/tty", O_RDWR | O_CLOEXEC) }

  /// Shows what is typed, unless it belongs to another program, such as the shell.
  func show() { if isInForeground { set(shown) } }

  var isInForeground: Bool { Self.isInForeground(of: descriptor) }

  /// Returns `true` for a terminal that belongs to this program rather than to another one, such as the
  /// shell.
  static func isInForeground(of terminal: Int32) -> Bool { tcgetpgrp(terminal) == getpgrp() }

  /// Stops a program that runs in the background until it continues.
  ///
  /// The terminal does this to a program that waits for its output there. A signal of our own could reach another
  /// thread, and this one would go on until that thread has stopped the program.
  static func stopInBackground(of terminal: Int32) {
    var (signals, others) = (sigset_t(), sigset_t())
    unsafe sigemptyset(&signals)
    unsafe sigaddset(&signals, SIGTTOU)
    unsafe pthread_sigmask(SIG_UNBLOCK, &signals, &others)
    while tcdrain(terminal) != 0, errno == EINTR {}
    unsafe pthread_sigmask(SIG_SETMASK, &others, nil)
  }

  func set(_ state: termios) {
    var state = state
    // After any other failure, the terminal is gone or belongs to another program, and can't be read.
    while unsafe tcsetattr(descriptor, TCSAFLUSH, &state) != 0, errno == EINTR {}
  }
}
