// SPDX-License-Identifier: Apache-2.0

internal import KeyringLibc

/// The signals that would otherwise leave the terminal without an echo.
///
/// A handler writes the number of each signal to a pipe, because any thread may get it.
struct CaughtSignals {
  private static let numbers = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT]

  private let before: [(number: Int32, action: sigaction)]
  /// The signals that this thread had blocked.
  private let blocked: sigset_t

  init() {
    // These arrived too late for the question before.
    while let number = SignalPipe.shared?.next() { raise(number) }
    // Without a pipe, signals do what they always do.
    let numbers = SignalPipe.shared == nil ? [] : Self.numbers
    before = numbers.compactMap { number in
      var action = sigaction()
      sigaction(number, nil, &action)
      // The handler comes first. A signal that the program ignores stays ignored.
      let ignored = unsafeBitCast(SIG_IGN, to: Int.self)
      if withUnsafeBytes(of: action, { $0.load(as: Int.self) }) == ignored { return nil }
      signal(number, SignalPipe.passOn)
      // A signal ends a call to read, because some systems can't poll a terminal.
      var own = sigaction()
      sigaction(number, nil, &own)
      own.sa_flags &= ~SA_RESTART
      sigaction(number, &own, nil)
      return (number, action)
    }
    var (set, blocked) = (sigset_t(), sigset_t())
    sigemptyset(&set)
    for (number, _) in before { sigaddset(&set, number) }
    pthread_sigmask(SIG_UNBLOCK, &set, &blocked)
    self.blocked = blocked
  }

  /// Waits for input, and returns `nil`, or for a signal, and returns its number.
  ///
  /// At a moment, the wait ends as if the question was woken without a signal.
  func wait(for terminal: Int32, until end: SuspendingClock.Instant?) -> Int32? {
    var sources = [
      pollfd(fd: terminal, events: Int16(POLLIN), revents: 0),
      pollfd(fd: SignalPipe.shared?.reading ?? -1, events: Int16(POLLIN), revents: 0),
    ]
    var ready: Int32
    repeat {
      ready = poll(&sources, nfds_t(sources.count), end.map(Self.milliseconds) ?? -1)
    } while ready < 0 && errno == EINTR
    if ready == 0 { return SignalPipe.noSignal }
    return sources[1].revents == 0 ? nil : SignalPipe.shared?.next()
  }

  /// Returns the time until a moment, rounded up, or a quarter of an hour.
  private static func milliseconds(until end: SuspendingClock.Instant) -> Int32 {
    Int32(min(max(0, (end - .now) / .milliseconds(1)), 1_000_000).rounded(.up))
  }

  /// Gives the signals back to the program, together with those that have arrived.
  ///
  /// - Parameter first: The signal that has ended the question, if one has.
  func release(raising first: Int32?) {
    for (number, action) in before {
      var action = action
      sigaction(number, &action, nil)
    }
    // A signal to the process, instead of this thread, might arrive only after the next question has begun.
    if let first { raise(first) }
    while let number = SignalPipe.shared?.next() { raise(number) }
    var blocked = blocked
    pthread_sigmask(SIG_SETMASK, &blocked, nil)
  }
}
