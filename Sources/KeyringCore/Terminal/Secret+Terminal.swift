internal import KeyringLibc
internal import Synchronization

extension Secret {
  /// Asks for a line of text at the program's terminal, and doesn't show what is typed.
  ///
  /// The terminal is the one that controls the process, even if standard input comes from a file. It shows
  /// what is typed again when the program is stopped, when a signal ends it, and when the method returns.
  /// The method blocks its thread.
  ///
  /// - Parameter prompt: The text before the cursor, for example "Passphrase: ".
  /// - Returns: The line without its end.
  /// - Throws: `.locked` if there is no terminal, and `.userCanceled` if the input ends before the line does.
  public static func typed(atPrompt prompt: String) throws(SecureStorageError) -> Secret {
    // Two questions at the same time would mix.
    let result = HiddenInput.onlyOne.withLock { _ in
      Result { () throws(SecureStorageError) in try HiddenInput(prompt).secret() }
    }
    return try result.get()
  }
}

/// A question at the terminal, which doesn't show the answer.
private struct HiddenInput: ~Copyable {
  static let onlyOne = Mutex(())

  private enum Event {
    case line(Secret)
    case end
    case signal(Int32)
  }

  private let prompt: String
  private let terminal: Int32
  private let shown: termios

  init(_ prompt: String) throws(SecureStorageError) {
    self.prompt = prompt
    terminal = open("/dev/tty", O_RDWR | O_CLOEXEC)
    var shown = termios()
    let isTerminal = terminal >= 0 && tcgetattr(terminal, &shown) == 0
    self.shown = shown
    guard isTerminal else {
      throw SecureStorageError(
        .locked, operation: .unlock, backendName: "terminal",
        message: "The program has no terminal at which it could ask.",
        recoverySuggestion: "Start it in a terminal.")
    }
  }

  deinit { if terminal >= 0 { close(terminal) } }

  /// Asks until there is an answer.
  ///
  /// A program that was stopped asks again when it continues.
  func secret() throws(SecureStorageError) -> Secret {
    while true {
      let signals = CaughtSignals()
      let event = ask(signals)
      set(shown, TCSAFLUSH)
      signals.release()
      switch event {
      case .line(let secret): return secret
      case .signal(let number):
        // By default, this ends or stops the program.
        kill(getpid(), number)
        if number == SIGTSTP { continue }
      case .end: break
      }
      throw SecureStorageError(
        .userCanceled, operation: .unlock, backendName: "terminal",
        message: "The terminal returned no line of text.", recoverySuggestion: "Try again.")
    }
  }

  private func ask(_ signals: borrowing CaughtSignals) -> Event {
    hideAndAsk()
    // This is more than the 4096 bytes that a terminal accepts per line.
    return withUnsafeTemporaryAllocation(byteCount: 1 << 13, alignment: 1) { buffer in
      defer { buffer.zeroize() }
      var count = 0
      while count < buffer.count {
        if let number = signals.wait(for: terminal) {
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
        if buffer[count - 1] == UInt8(ascii: "\n") {
          return .line(Secret(copying: UnsafeRawBufferPointer(rebasing: buffer[..<(count - 1)])))
        }
      }
      return .end
    }
  }

  /// Hides what is typed, drops what was typed before the question, and asks.
  private func hideAndAsk() {
    var hidden = shown
    hidden.c_lflag &= ~tcflag_t(ECHO)
    hidden.c_lflag |= tcflag_t(ECHONL)
    set(hidden, TCSAFLUSH)
    _ = Array(prompt.utf8).withUnsafeBytes { write(terminal, $0.baseAddress, $0.count) }
  }

  private func set(_ state: termios, _ moment: Int32) {
    var state = state
    while tcsetattr(terminal, moment, &state) != 0, errno == EINTR {}
  }
}

/// The signals that would otherwise leave the terminal without an echo.
///
/// A handler writes the number of each signal to a pipe, because any thread may get it.
private struct CaughtSignals: ~Copyable {
  private static let numbers = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT]

  private let reading: Int32
  private let before: [(number: Int32, action: sigaction)]

  init() {
    var ends: [Int32] = [-1, -1]
    // Without a pipe, signals do what they always do.
    guard pipe(&ends) == 0 else {
      (reading, before) = (-1, [])
      return
    }
    for end in ends {
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
    }
    reading = ends[0]
    signalPipe.store(ends[1], ordering: .releasing)
    before = Self.numbers.compactMap { number in
      var action = sigaction()
      sigaction(number, nil, &action)
      let handler = signal(number, passOn)
      // A signal that the program ignores stays ignored.
      if unsafeBitCast(handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self) {
        signal(number, SIG_IGN)
        return nil
      }
      return (number, action)
    }
  }

  /// Waits for input, and returns `nil`, or for a signal, and returns its number.
  func wait(for terminal: Int32) -> Int32? {
    var sources = [
      pollfd(fd: terminal, events: Int16(POLLIN), revents: 0),
      pollfd(fd: reading, events: Int16(POLLIN), revents: 0),
    ]
    while poll(&sources, nfds_t(sources.count), -1) < 0, errno == EINTR {}
    guard sources[1].revents != 0 else { return nil }
    var number: UInt8 = 0
    return read(reading, &number, 1) == 1 ? Int32(number) : nil
  }

  /// Gives the signals back to the program.
  consuming func release() {
    for (number, action) in before {
      var action = action
      sigaction(number, &action, nil)
    }
    close(signalPipe.exchange(-1, ordering: .acquiringAndReleasing))
    close(reading)
  }
}

/// The end of the pipe that signals are written to.
private let signalPipe = Atomic<Int32>(-1)

/// Writes the number of a signal to the pipe, with only an async-signal-safe call.
private let passOn: @convention(c) (Int32) -> Void = { number in
  let error = errno
  var byte = UInt8(truncatingIfNeeded: number)
  write(signalPipe.load(ordering: .acquiring), &byte, 1)
  errno = error
}
