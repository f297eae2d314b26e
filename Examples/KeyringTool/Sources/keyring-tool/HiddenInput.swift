import Keyring
import KeyringToolCommands

#if canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A prompt for secrets that doesn't show the typed text.
enum HiddenInput {
  /// Turns the echo off while a closure runs.
  ///
  /// The echo is turned on again while the program is stopped, and when a signal ends it.
  ///
  /// It doesn't use `getpass`. That function also disables the keys that interrupt, so that Ctrl-C becomes
  /// part of the secret, and it leaves the echo off if a signal comes from elsewhere.
  static func withoutEcho<Result>(_ body: () throws -> Result) throws -> Result {
    guard tcgetattr(STDIN_FILENO, &shown) == 0 else { throw unusable() }
    hidden = shown
    hidden.c_lflag &= ~tcflag_t(ECHO)
    hidden.c_lflag |= tcflag_t(ECHONL)
    let handlers =
      endingSignals.map { ($0, signal($0, showAndEnd)) }
      + [(SIGTSTP, signal(SIGTSTP, showAndStop)), (SIGCONT, signal(SIGCONT, hideAndAsk))]
    defer { for (number, handler) in handlers { signal(number, handler) } }
    // This drops text that was typed before the prompt. It was shown, and isn't the secret.
    guard tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden) == 0 else { throw unusable() }
    defer {
      // Set this for the handler of a signal that arrives now.
      hidden = shown
      tcsetattr(STDIN_FILENO, TCSANOW, &shown)
    }
    return try body()
  }

  /// Asks for one line.
  static func ask(_ prompt: StaticString) throws -> Secret {
    asked = prompt
    try Terminal.write(Array(prompt.description.utf8), to: STDERR_FILENO)
    // This is more than the 4096 bytes that a terminal accepts per line.
    return try withUnsafeTemporaryAllocation(byteCount: 1 << 13, alignment: 1) { buffer in
      defer { if let start = buffer.baseAddress { explicit_bzero(start, buffer.count) } }
      var count = 0
      while count < buffer.count {
        let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[count...])
        let added = read(STDIN_FILENO, rest.baseAddress, rest.count)
        if added < 0, errno == EINTR { continue }
        guard added > 0 else { throw unusable() }
        count += added
        if buffer[count - 1] == UInt8(ascii: "\n") {
          return Secret(copying: UnsafeRawBufferPointer(rebasing: buffer[..<(count - 1)]))
        }
      }
      throw unusable()
    }
  }

  private static func unusable() -> ToolFailure {
    ToolFailure(
      "The terminal returned no line of text.",
      recoverySuggestion: "Try again, or pipe the secret in.")
  }
}

/// The signals that end the program, after the terminal has been restored.
private let endingSignals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]

/// The original state of the terminal.
///
/// It's used by the handlers below, which run when there is only the main thread.
nonisolated(unsafe) private var shown = termios()

/// The state of the terminal while a secret is typed.
nonisolated(unsafe) private var hidden = termios()

/// The last prompt.
nonisolated(unsafe) private var asked: StaticString = ""

/// Restores the terminal and ends the program with the signal, using only async-signal-safe calls.
///
/// A partly typed secret is dropped, so that the shell doesn't show it and run it as a command.
private let showAndEnd: @convention(c) (Int32) -> Void = { number in
  tcsetattr(STDIN_FILENO, TCSAFLUSH, &shown)
  signal(number, SIG_DFL)
  raise(number)
}

/// Restores the terminal and stops the program, as Ctrl-Z does; hides the input when it continues.
private let showAndStop: @convention(c) (Int32) -> Void = { number in
  tcsetattr(STDIN_FILENO, TCSAFLUSH, &shown)
  var (stop, before) = (sigset_t(), sigset_t())
  sigemptyset(&stop)
  sigaddset(&stop, number)
  signal(number, SIG_DFL)
  signal(SIGCONT, SIG_DFL)
  raise(number)
  // The program stops here. Without a shell that could continue it, nothing happens at all.
  sigprocmask(SIG_UNBLOCK, &stop, &before)
  sigprocmask(SIG_SETMASK, &before, nil)
  signal(number, showAndStop)
  signal(SIGCONT, hideAndAsk)
  hideAndAsk(number)
}

/// Hides the input again after the program continues, and repeats the prompt.
///
/// The terminal has dropped the text typed so far. The program was stopped, possibly by a signal that can't
/// be caught. In the meantime the shell controlled the terminal, and it leaves the echo on.
private let hideAndAsk: @convention(c) (Int32) -> Void = { _ in
  tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden)
  _ = write(STDERR_FILENO, asked.utf8Start, asked.utf8CodeUnitCount)
}
