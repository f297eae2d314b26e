// SPDX-License-Identifier: Apache-2.0

internal import KeyringPlatform

/// The signals that would leave the terminal hiding its input.
///
/// Any thread may get them. Those that end the question are written to a pipe. The others would end the program before
/// the question does, and their handler itself lets the terminal show input again.
struct CaughtSignals {
  private static let endingQuestion = [SIGINT, SIGTERM, SIGHUP, SIGTSTP, SIGCONT]
  private static let crashes = [
    SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGSYS,
  ]
  /// The signals that are harmless by default, or beyond any handler.
  private static let harmless =
    [SIGKILL, SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU, SIGCONT, SIGCHLD, SIGURG, SIGWINCH]
    + Platform.harmlessSignals

  private typealias Handler =
    @convention(c) (Int32, UnsafeMutablePointer<siginfo_t>?, UnsafeMutableRawPointer?) -> Void

  // These stay, because a handler can run on another thread after the question.
  private nonisolated(unsafe) static var terminal: Terminal?
  /// The handlers that the signals had before, by number, or 0 for the default action.
  private nonisolated(unsafe) static var handlersBefore = [Int](repeating: 0, count: 65)

  /// Lets the terminal show input, and does what the signal does without the question.
  ///
  /// The handler makes only async-signal-safe calls.
  private static let showAndPassOn: Handler = { number, information, context in
    let error = errno
    unsafe terminal?.show()
    if let handler = unsafe unsafeBitCast(handlersBefore[Int(number)], to: Handler?.self) {
      unsafe handler(number, information, context)
    } else {
      signal(number, SIG_DFL)
    }
    var action = sigaction()
    unsafe sigaction(number, nil, &action)
    if unsafe address(of: action) == unsafeBitCast(showAndPassOn, to: Int.self) {
      // The program goes on, so the question hides its input again.
      SignalPipe.passOn(SIGCONT)
    } else if unsafe !happensAgain(number, information) {
      // Swift's own handler gives crashes their default action, and returns.
      raise(number)
    }
    errno = error
  }

  /// Returns `true` if a signal is from an instruction that runs again after the handler.
  private static func happensAgain(
    _ number: Int32, _ information: UnsafeMutablePointer<siginfo_t>?
  ) -> Bool {
    switch number {
    case SIGSEGV, SIGBUS, SIGFPE, SIGILL:
      // The codes of signals that other programs send aren't positive.
      unsafe information.map { unsafe $0.pointee.si_code > 0 } == true
    default: false
    }
  }

  /// Returns the address of a handler, which Swift's modules of the C libraries name differently.
  private static func address(of action: sigaction) -> Int {
    unsafe withUnsafeBytes(of: action) { unsafe $0.load(as: Int.self) }
  }

  private let before: [(number: Int32, action: sigaction)]
  /// The signals that this thread had blocked.
  private let blocked: sigset_t

  private let terminal: Terminal

  init(in terminal: Terminal) {
    self.terminal = terminal
    // These arrived too late for the question before.
    while let number = SignalPipe.shared?.next() { raise(number) }
    unsafe Self.terminal = terminal
    // Without a pipe, signals end the program as usual.
    let endingQuestion = SignalPipe.shared == nil ? [] : Self.endingQuestion
    var (set, blocked) = (sigset_t(), sigset_t())
    unsafe sigemptyset(&set)
    before = (Int32(1)...64).compactMap { number in
      var action = sigaction()
      // The C library keeps some numbers to itself.
      guard unsafe sigaction(number, nil, &action) == 0 else { return nil }
      let handler = Self.address(of: action)
      // A signal that the program ignores stays ignored.
      if unsafe handler == unsafeBitCast(SIG_IGN, to: Int.self) { return nil }
      let endsQuestion = endingQuestion.contains(number)
      let isCrash = Self.crashes.contains(number)
      if !endsQuestion {
        // A handler of the program's own may let the program go on after any other signal.
        guard isCrash || handler == 0 && !Self.harmless.contains(number) else { return nil }
        unsafe Self.handlersBefore[Int(number)] = handler
      }
      // A thread of the program may wait for the others, which have to stay blocked for that.
      if endsQuestion || isCrash { unsafe sigaddset(&set, number) }
      // The handler comes first.
      unsafe signal(
        number,
        endsQuestion
          ? SignalPipe.passOn
          : unsafeBitCast(Self.showAndPassOn, to: (@convention(c) (Int32) -> Void).self))
      var own = sigaction()
      unsafe sigaction(number, nil, &own)
      if endsQuestion {
        // A signal ends a call to read, because some systems can't poll a terminal.
        own.sa_flags &= ~SA_RESTART
      } else {
        own.sa_flags = action.sa_flags | SA_SIGINFO | SA_ONSTACK
        own.sa_mask = action.sa_mask
      }
      unsafe sigaction(number, &own, nil)
      return (number, action)
    }
    unsafe pthread_sigmask(SIG_UNBLOCK, &set, &blocked)
    self.blocked = blocked
  }

  /// Waits for input, and returns `nil`, or for a signal, and returns its number.
  ///
  /// At a moment, the wait ends like a wakening by no signal.
  func wait(until end: SuspendingClock.Instant?) -> Int32? {
    var sources = [
      pollfd(fd: terminal.descriptor, events: Int16(POLLIN), revents: 0),
      pollfd(fd: SignalPipe.shared?.reading ?? -1, events: Int16(POLLIN), revents: 0),
    ]
    var ready: Int32
    repeat {
      ready = unsafe poll(&sources, nfds_t(sources.count), end.map(Self.milliseconds) ?? -1)
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
      unsafe sigaction(number, &action, nil)
    }
    // A signal to the process, instead of this thread, might arrive only after the next question has begun.
    if let first { raise(first) }
    while let number = SignalPipe.shared?.next() { raise(number) }
    var blocked = blocked
    unsafe pthread_sigmask(SIG_SETMASK, &blocked, nil)
  }
}
