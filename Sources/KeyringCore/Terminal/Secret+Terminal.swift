// SPDX-License-Identifier: Apache-2.0

internal import KeyringLibc
internal import Synchronization

extension Secret {
  /// Asks for a line of text at the program's terminal, and doesn't show what is typed.
  ///
  /// The method blocks its thread. The terminal shows input again afterwards, even if the user ends the
  /// program with Ctrl-C.
  ///
  /// - Parameter prompt: The text before the cursor, for example "Passphrase: ".
  /// - Returns: The line without its end.
  /// - Throws: `.locked` if there is no terminal, `.userCanceled` if the input ends before the line does, and
  ///   `.invalidArgument` if the line is longer than the terminal accepts.
  public static func typed(atPrompt prompt: String) throws(SecureStorageError) -> Secret {
    try typed(atPrompt: prompt) { false }
  }

  /// Asks for a line of text at the program's terminal, until the question is cancelled.
  ///
  /// - Parameters:
  ///   - prompt: The text before the cursor.
  ///   - isCancelled: A closure that is called before the question, and after ``lookForCancellation()``.
  /// - Returns: The line without its end.
  /// - Throws: `.canceled` if the question is cancelled, or the same errors as ``typed(atPrompt:)``.
  package static func typed(
    atPrompt prompt: String, unless isCancelled: () -> Bool
  ) throws(SecureStorageError) -> Secret {
    // Two questions at the same time would mix.
    let result = HiddenInput.onlyOne.withLock { _ in
      Result { () throws(SecureStorageError) in
        let terminal = HiddenInput.openTerminal()
        defer { if terminal >= 0 { close(terminal) } }
        var shown = termios()
        // A program in the background stops until the user brings it to the foreground. Until then, the terminal
        // has the state of the shell.
        if terminal >= 0, tcgetpgrp(terminal) != getpgrp() {
          // Only a signal that this thread doesn't block stops it at once.
          var (signals, others) = (sigset_t(), sigset_t())
          sigemptyset(&signals)
          sigaddset(&signals, SIGTTIN)
          pthread_sigmask(SIG_UNBLOCK, &signals, &others)
          kill(0, SIGTTIN)
          pthread_sigmask(SIG_SETMASK, &others, nil)
        }
        guard terminal >= 0, tcgetpgrp(terminal) == getpgrp(), tcgetattr(terminal, &shown) == 0
        else {
          throw noTerminal
        }
        return try HiddenInput(prompt: prompt, terminal: terminal, shown: shown).secret(
          unless: isCancelled)
      }
    }
    return try result.get()
  }

  /// Makes the question at the terminal check whether it was cancelled.
  package static func lookForCancellation() { SignalPipe.passOn(SignalPipe.noSignal) }

  /// The error for a program without a terminal, or `nil` if the program has one.
  package static var typingFailure: SecureStorageError? {
    let terminal = HiddenInput.openTerminal()
    if terminal < 0 { return noTerminal }
    close(terminal)
    return nil
  }

  private static var noTerminal: SecureStorageError {
    HiddenInput.error(
      .locked, "The program has no terminal at which it can ask.", "Start it in a terminal.")
  }
}

/// A question at the terminal, which doesn't show the answer.
private struct HiddenInput {
  static let onlyOne = Mutex(())

  private enum Event {
    case line(Secret)
    case longLine
    case end
    case signal(Int32)
    case cancellation
  }

  let prompt: String
  let terminal: Int32
  /// The state of the terminal in which it shows what is typed.
  let shown: termios

  /// Opens the terminal that controls the process, or returns -1 if there is none.
  static func openTerminal() -> Int32 { open("/dev/tty", O_RDWR | O_CLOEXEC) }

  /// Asks until there is an answer.
  ///
  /// A program that was stopped asks again when it continues.
  func secret(unless isCancelled: () -> Bool) throws(SecureStorageError) -> Secret {
    while true {
      let signals = CaughtSignals()
      let event = isCancelled() ? .cancellation : ask(signals, isCancelled)
      show()
      let number: Int32? = if case .signal(let number) = event { number } else { nil }
      signals.release(raising: number)
      switch event {
      case .line(let secret): return secret
      // By default, this has stopped the program until it continued.
      case .signal(SIGTSTP): continue
      case .signal:
        throw Self.error(.userCanceled, "The question was interrupted.", "Try again.")
      case .cancellation:
        throw Self.error(.canceled, "The question was cancelled.", "Try again.")
      case .end:
        throw Self.error(
          .userCanceled, "The input ended before a line was entered.", "Enter a line.")
      case .longLine:
        throw Self.error(
          .invalidArgument, "The line is longer than the terminal accepts.", "Enter a shorter line."
        )
      }
    }
  }

  private func ask(_ signals: CaughtSignals, _ isCancelled: () -> Bool) -> Event {
    hideAndAsk()
    // A terminal cuts a longer line off, and keeps its end.
    return withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { buffer in
      defer { buffer.zeroize() }
      var count = 0
      while count < buffer.count {
        if let number = signals.wait(for: terminal) {
          if number == SignalPipe.noSignal {
            if isCancelled() { return .cancellation }
            continue
          }
          if number != SIGCONT { return .signal(number) }
          // The program was stopped by a signal that can't be caught. The terminal may show what is typed, and
          // has dropped what was typed before.
          hideAndAsk()
          count = 0
          continue
        }
        let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[count...])
        let added = read(terminal, rest.baseAddress, rest.count)
        if added < 0, errno == EINTR || errno == EAGAIN { continue }
        guard added > 0 else { return .end }
        count += added
        if count < buffer.count, buffer[count - 1] == UInt8(ascii: "\n") {
          return .line(Secret(copying: UnsafeRawBufferPointer(rebasing: buffer[..<(count - 1)])))
        }
      }
      return .longLine
    }
  }

  /// Hides what is typed, drops what was typed before the question, and asks.
  private func hideAndAsk() {
    var hidden = shown
    hidden.c_iflag |= tcflag_t(ICRNL)
    hidden.c_lflag |= tcflag_t(ICANON | ISIG | ECHONL)
    hidden.c_lflag &= ~tcflag_t(ECHO)
    set(hidden)
    // A terminal that can't be written can't be read, either, and reading it ends the question.
    _ = Array(prompt.utf8).withUnsafeBytes { write(terminal, $0.baseAddress, $0.count) }
  }

  /// Shows what is typed, unless the terminal belongs to another program, such as the shell.
  private func show() { if tcgetpgrp(terminal) == getpgrp() { set(shown) } }

  private func set(_ state: termios) {
    var state = state
    // After any other failure, the terminal is gone or belongs to another program, and can't be read.
    while tcsetattr(terminal, TCSAFLUSH, &state) != 0, errno == EINTR {}
  }

  static func error(
    _ code: SecureStorageError.Code, _ message: String, _ recoverySuggestion: String
  ) -> SecureStorageError {
    SecureStorageError(
      code, operation: .unlock, backendName: "terminal", message: message,
      recoverySuggestion: recoverySuggestion)
  }
}

/// The signals that would otherwise leave the terminal without an echo.
///
/// A handler writes the number of each signal to a pipe, because any thread may get it.
private struct CaughtSignals {
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
  func wait(for terminal: Int32) -> Int32? {
    var sources = [
      pollfd(fd: terminal, events: Int16(POLLIN), revents: 0),
      pollfd(fd: SignalPipe.shared?.reading ?? -1, events: Int16(POLLIN), revents: 0),
    ]
    while poll(&sources, nfds_t(sources.count), -1) < 0, errno == EINTR {}
    return sources[1].revents == 0 ? nil : SignalPipe.shared?.next()
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

/// The pipe that signals are written to.
///
/// It stays open, because a handler can run on another thread after the question.
private struct SignalPipe: Sendable {
  /// A number in the pipe that wakes the question without a signal, and that `raise` ignores.
  static let noSignal: Int32 = 0

  let reading: Int32

  /// The pipe of the process, or `nil` if the process has too many open files.
  static let shared: SignalPipe? = {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { return nil }
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
    write(SignalPipe.writing.load(ordering: .acquiring), &byte, 1)
    errno = error
  }

  /// Returns the number of the next signal, or `nil` if there is none.
  func next() -> Int32? {
    var number: UInt8 = 0
    return read(reading, &number, 1) == 1 ? Int32(number) : nil
  }
}
