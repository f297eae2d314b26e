// SPDX-License-Identifier: Apache-2.0

import KeyringToolCommands
import Synchronization

#if canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A program that this one starts with its own input, output and environment, and waits for.
///
/// The program gets the signals that other programs send to this one. A terminal sends its signals to both,
/// except for the one of a terminal that is closed.
struct ChildProgram {
  /// The end of a program.
  enum End {
    case exited(Int32)
    case killed(Int32)
    /// The program wasn't started, because of an error with this number.
    case notStarted(Int32)
  }

  /// The signals that are passed on.
  private static let signals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2]

  /// Indicates whether this program was started with an ignored SIGPIPE.
  ///
  /// GLib ignores the signal in the whole process. The other program must not inherit that.
  private let ignoresPipes: Bool

  /// Prepares the start of a program.
  ///
  /// Call this before a library changes how signals are handled.
  init() {
    ignoresPipes = Self.isIgnored(SIGPIPE)
    // If it's ignored, the end of the other program isn't known.
    signal(SIGCHLD, SIG_DFL)
  }

  /// Makes signals wait for the program, instead of ending this one.
  func holdSignals() {
    for number in Self.signals where !Self.isIgnored(number) {
      var action = sigaction()
      let handler:
        @convention(c) (Int32, UnsafeMutablePointer<siginfo_t>?, UnsafeMutableRawPointer?) -> Void =
          { number, information, _ in
            // The codes of signals that the kernel sends by itself, such as those of a terminal, are positive.
            // A terminal that is closed signals only the first program of its session.
            let isForBoth =
              number != SIGHUP && information.map({ $0.pointee.si_code > 0 }) == true
            if isForBoth, runningProgram.load(ordering: .sequentiallyConsistent) > 0 { return }
            pendingSignals.bitwiseOr(1 << UInt64(number), ordering: .sequentiallyConsistent)
            ChildProgram.passPendingSignalsOn()
          }
      #if canImport(Musl)
      action.__sa_handler.sa_sigaction = handler
      #else
      action.__sigaction_handler.sa_sigaction = handler
      #endif
      action.sa_flags = SA_SIGINFO | SA_RESTART
      sigaction(number, &action, nil)
    }
  }

  /// Runs a program to its end.
  ///
  /// - Parameter command: The name or path of the program, and its arguments.
  /// - Returns: The end of the program. It's a signal that arrived before the start, if there was one.
  func run(_ command: [String]) -> End {
    let early = pendingSignals.load(ordering: .sequentiallyConsistent)
    if early != 0 { return .killed(Int32(early.trailingZeroBitCount)) }
    let (number, error) = start(command)
    if error != 0 { return .notStarted(error) }
    runningProgram.store(number, ordering: .sequentiallyConsistent)
    Self.passPendingSignalsOn()

    // The number isn't free for another program until the second call.
    var information = siginfo_t()
    while waitid(P_PID, id_t(number), &information, WEXITED | WNOWAIT) < 0, errno == EINTR {}
    runningProgram.store(0, ordering: .sequentiallyConsistent)
    var status: Int32 = 0
    while waitpid(number, &status, 0) < 0 {
      if errno != EINTR { return .notStarted(errno) }
    }
    let signal = status & 0x7f
    return signal == 0 ? .exited(status >> 8 & 0xff) : .killed(signal)
  }

  /// Ends this program with a signal, as the other program has ended.
  static func end(by number: Int32) {
    // This program has secrets in its memory, and the signal may dump it.
    var none = rlimit(rlim_cur: 0, rlim_max: 0)
    #if canImport(Musl)
    setrlimit(RLIMIT_CORE, &none)
    #else
    setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
    #endif
    signal(number, SIG_DFL)
    raise(number)
  }

  private func start(_ command: [String]) -> (number: pid_t, error: Int32) {
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    if !ignoresPipes {
      var defaults = sigset_t()
      sigemptyset(&defaults)
      sigaddset(&defaults, SIGPIPE)
      posix_spawnattr_setsigdefault(&attributes, &defaults)
      posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF))
    }
    var arguments = command.map { strdup($0) } + [nil]
    defer { for argument in arguments { free(argument) } }
    var number: pid_t = 0
    let error = posix_spawnp(&number, command[0], nil, &attributes, &arguments, environ)
    return (number, error)
  }

  /// Sends the signals that have arrived to the program, once it runs.
  private static func passPendingSignalsOn() {
    let program = runningProgram.load(ordering: .sequentiallyConsistent)
    guard program > 0 else { return }
    // The handler calls this, so it allocates nothing.
    var pending = pendingSignals.exchange(0, ordering: .sequentiallyConsistent)
    while pending != 0 {
      kill(program, Int32(pending.trailingZeroBitCount))
      pending &= pending - 1
    }
  }

  private static func isIgnored(_ number: Int32) -> Bool {
    var action = sigaction()
    sigaction(number, nil, &action)
    let ignored = unsafeBitCast(SIG_IGN, to: Int.self)
    return withUnsafeBytes(of: action) { $0.load(as: Int.self) } == ignored
  }
}

/// The number of the program that runs, or 0.
private let runningProgram = Atomic<Int32>(0)

/// The signals that the program hasn't got yet, as one bit for each.
private let pendingSignals = Atomic<UInt64>(0)
