// SPDX-License-Identifier: Apache-2.0

internal import KeyringPlatform
internal import Synchronization

/// A question at the terminal, which doesn't show the answer.
struct HiddenInput {
  static let onlyOne = Mutex(())

  private enum Event {
    case line(Secret)
    case longLine
    case end
    case escape
    case signal(Int32)
    case cancellation
    case lateness
    case background
  }

  let prompt: String
  let terminal: Terminal
  /// The moment at which the question gives up, or `nil` to wait for an answer.
  let end: SuspendingClock.Instant?
  /// `true` if a program in the background stops there and waits for the user, instead of failing.
  let stopsInBackground: Bool

  private static let escape = UInt8(0x1B)

  /// Asks until there is an answer.
  ///
  /// A program that was stopped asks again when it continues.
  func secret(unless isCancelled: () -> Bool) throws(SecureStorageError) -> Secret {
    while true {
      let signals = CaughtSignals(in: terminal)
      let event = isCancelled() ? .cancellation : ask(signals, isCancelled)
      // The terminal shows a line break only at the end of a line.
      switch event {
      case .escape, .cancellation, .lateness: say("\n")
      default: break
      }
      terminal.show()
      let number: Int32? = if case .signal(let number) = event { number } else { nil }
      signals.release(raising: number)
      switch event {
      case .line(let secret): return secret
      // By default, this has stopped the program until it continued.
      case .signal(SIGTSTP): continue
      case .background:
        if stopsInBackground { Terminal.stopInBackground(of: terminal.descriptor) }
        guard stopsInBackground, terminal.isInForeground else { throw Self.inBackground }
      case .signal:
        throw Self.error(.userCanceled, "The question was interrupted.", "Try again.")
      case .escape:
        throw Self.error(.userCanceled, "The question was cancelled with Esc.", "Try again.")
      case .lateness:
        throw Self.error(.timedOut, "The question wasn't answered in time.", "Try again.")
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
    // The program may have continued in the background. This thread may block the signals that would stop it again.
    guard terminal.isInForeground else { return .background }
    hideAndAsk()
    // A terminal cuts a longer line off, and keeps its end.
    return unsafe withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { buffer in
      defer { unsafe buffer.zeroize() }
      var count = 0
      while count < buffer.count {
        if let number = signals.wait(until: end) {
          if number == SignalPipe.noSignal {
            if isCancelled() { return .cancellation }
            if let end, SuspendingClock.now >= end { return .lateness }
            continue
          }
          if number != SIGCONT { return .signal(number) }
          guard terminal.isInForeground else { return .background }
          // The program was stopped by a signal that can't be caught. The terminal may show what is typed, and
          // has dropped what was typed before.
          hideAndAsk()
          count = 0
          continue
        }
        let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[count...])
        let added = unsafe read(terminal.descriptor, rest.baseAddress, rest.count)
        if added < 0, errno == EINTR || errno == EAGAIN { continue }
        guard added > 0 else { return .end }
        count += added
        if count < buffer.count, unsafe buffer[count - 1] == UInt8(ascii: "\n") {
          return unsafe .line(
            Secret(copying: UnsafeRawBufferPointer(rebasing: buffer[..<(count - 1)])))
        }
        if count < buffer.count, unsafe buffer[count - 1] == Self.escape {
          if isEscapeAlone { return .escape }
          // Another key, such as an arrow, isn't a part of the answer.
          say("\r")
          hideAndAsk()
          count = 0
        }
      }
      return .longLine
    }
  }

  /// Hides what is typed, drops what was typed before the question, and asks.
  private func hideAndAsk() {
    terminal.set(hidden)
    // A terminal that can't be written can't be read, either, and reading it ends the question.
    say(prompt)
  }

  private var hidden: termios {
    var hidden = terminal.shown
    hidden.c_iflag |= tcflag_t(ICRNL)
    hidden.c_lflag |= tcflag_t(ICANON | ISIG | ECHONL)
    hidden.c_lflag &= ~tcflag_t(ECHO)
    // The key Esc ends a line, too.
    unsafe withUnsafeMutableBytes(of: &hidden.c_cc) { unsafe $0[Int(VEOL)] = Self.escape }
    return hidden
  }

  /// Whether nothing follows an escape at once.
  ///
  /// Other keys than Esc send several bytes, which begin with an escape.
  private var isEscapeAlone: Bool {
    var atOnce = hidden
    atOnce.c_lflag &= ~tcflag_t(ICANON)
    unsafe tcsetattr(terminal.descriptor, TCSANOW, &atOnce)
    var source = pollfd(fd: terminal.descriptor, events: Int16(POLLIN), revents: 0)
    return unsafe poll(&source, 1, 50) == 0
  }

  private func say(_ text: String) {
    _ = unsafe Array(text.utf8).withUnsafeBytes {
      unsafe write(terminal.descriptor, $0.baseAddress, $0.count)
    }
  }

  static var inBackground: SecureStorageError {
    error(
      .locked, "The program runs in the background, where it can't ask at the terminal.",
      "Bring it to the foreground, for example with the shell's command fg.")
  }

  static func error(
    _ code: SecureStorageError.Code, _ message: String, _ recoverySuggestion: String
  ) -> SecureStorageError {
    SecureStorageError(
      code, operation: .unlock, backendName: "terminal", message: message,
      recoverySuggestion: recoverySuggestion)
  }
}
