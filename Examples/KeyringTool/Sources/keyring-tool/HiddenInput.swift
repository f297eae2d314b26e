import Keyring
import KeyringToolCommands

#if canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Asks a person for secrets without showing what is typed.
enum HiddenInput {
  /// Turns the echo off for as long as a closure runs, and on again also while the program is stopped,
  /// and when a signal ends it.
  ///
  /// Not `getpass`, which turns the keys that interrupt off too, so that Ctrl-C becomes part of the
  /// secret, and leaves the echo off when a signal comes from elsewhere.
  static func withoutEcho<Result>(_ body: () throws -> Result) throws -> Result {
    guard tcgetattr(STDIN_FILENO, &shown) == 0 else { throw unusable() }
    hidden = shown
    hidden.c_lflag &= ~tcflag_t(ECHO)
    hidden.c_lflag |= tcflag_t(ECHONL)
    let handlers =
      endingSignals.map { ($0, signal($0, showAndEnd)) }
      + [(SIGTSTP, signal(SIGTSTP, showAndStop)), (SIGCONT, signal(SIGCONT, hideAndAsk))]
    defer { for (number, handler) in handlers { signal(number, handler) } }
    // What was typed before it was asked for was shown, and is no secret: it is dropped.
    guard tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden) == 0 else { throw unusable() }
    defer {
      // For the handler of a signal that comes now.
      hidden = shown
      tcsetattr(STDIN_FILENO, TCSANOW, &shown)
    }
    return try body()
  }

  /// Asks for one line.
  static func ask(_ prompt: StaticString) throws -> Secret {
    asked = prompt
    try Terminal.write(Array(prompt.description.utf8), to: STDERR_FILENO)
    // More than the 4096 bytes that a terminal takes for a line.
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
      "The terminal gave no line of text.", advice: "Try again, or pipe the secret in.")
  }
}

/// The signals that end a program whose terminal must be put right first.
private let endingSignals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]

/// The terminal as it was, for the handlers below, which run when only the main thread exists.
nonisolated(unsafe) private var shown = termios()

/// The terminal as it is to be while a secret is typed.
nonisolated(unsafe) private var hidden = termios()

/// What was asked last.
nonisolated(unsafe) private var asked: StaticString = ""

/// Puts the terminal right and ends as the signal would have, with calls that a handler may make.
///
/// Half a secret that was typed is dropped, lest the shell show it and take it for a command.
private let showAndEnd: @convention(c) (Int32) -> Void = { number in
  tcsetattr(STDIN_FILENO, TCSAFLUSH, &shown)
  signal(number, SIG_DFL)
  raise(number)
}

/// Puts the terminal right and stops, as Ctrl-Z is to do; and hides what is typed when it goes on.
private let showAndStop: @convention(c) (Int32) -> Void = { number in
  tcsetattr(STDIN_FILENO, TCSAFLUSH, &shown)
  var (stop, before) = (sigset_t(), sigset_t())
  sigemptyset(&stop)
  sigaddset(&stop, number)
  signal(number, SIG_DFL)
  signal(SIGCONT, SIG_DFL)
  raise(number)
  // Here it stops; unless no shell is there to have it go on, in which case nothing happens at all.
  sigprocmask(SIG_UNBLOCK, &stop, &before)
  sigprocmask(SIG_SETMASK, &before, nil)
  signal(number, showAndStop)
  signal(SIGCONT, hideAndAsk)
  hideAndAsk(number)
}

/// Hides what is typed again, of which the terminal has dropped what there was, and asks again.
///
/// The program was stopped, maybe by a signal that cannot be caught. The shell had the terminal
/// meanwhile, and leaves it showing what is typed.
private let hideAndAsk: @convention(c) (Int32) -> Void = { _ in
  tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden)
  _ = write(STDERR_FILENO, asked.utf8Start, asked.utf8CodeUnitCount)
}
