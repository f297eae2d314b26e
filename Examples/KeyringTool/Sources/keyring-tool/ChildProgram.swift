// SPDX-License-Identifier: Apache-2.0

import KeyringToolCommands
import Synchronization

#if canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A program that this one starts with its own input, output and environment, and waits for.
enum ChildProgram {
  /// The end of a program.
  enum End {
    case exited(Int32)
    case killed(Int32)
    /// The program wasn't started, because of an error with this number.
    case notStarted(Int32)
  }

  private static let signals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2]

  /// Runs a program to its end, and passes on the signals that others send to this one.
  ///
  /// A terminal sends its signals to both programs, so they aren't passed on.
  ///
  /// - Parameter command: The name or path of the program, and its arguments.
  /// - Returns: The end of the program.
  static func run(_ command: [String]) -> End {
    // Nothing arrives before the number of the program is known.
    var (caught, before) = (sigset_t(), sigset_t())
    sigemptyset(&caught)
    for number in signals where passesOn(number) { sigaddset(&caught, number) }
    pthread_sigmask(SIG_BLOCK, &caught, &before)
    let (number, error) = start(command, signalMask: before)
    runningProgram.store(number, ordering: .releasing)
    pthread_sigmask(SIG_SETMASK, &before, nil)
    if error != 0 { return .notStarted(error) }

    var status: Int32 = 0
    while waitpid(number, &status, 0) < 0, errno == EINTR {}
    // The number may belong to another program from now on.
    runningProgram.store(0, ordering: .releasing)
    let signal = status & 0x7f
    return signal == 0 ? .exited(status >> 8 & 0xff) : .killed(signal)
  }

  /// Ends this program with a signal, as the other program has ended.
  static func end(by number: Int32) {
    // This program has secrets in its memory.
    var none = rlimit(rlim_cur: 0, rlim_max: 0)
    setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
    signal(number, SIG_DFL)
    raise(number)
  }

  private static func start(
    _ command: [String], signalMask: sigset_t
  ) -> (number: pid_t, error: Int32) {
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var mask = signalMask
    posix_spawnattr_setsigmask(&attributes, &mask)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    var arguments = command.map { strdup($0) } + [nil]
    defer { for argument in arguments { free(argument) } }
    var number: pid_t = 0
    let error = posix_spawnp(&number, command[0], nil, &attributes, &arguments, environ)
    return (error == 0 ? number : 0, error)
  }

  /// Installs the handler for a signal, unless this program ignores the signal.
  private static func passesOn(_ number: Int32) -> Bool {
    var action = sigaction()
    sigaction(number, nil, &action)
    let ignored = unsafeBitCast(SIG_IGN, to: Int.self)
    if withUnsafeBytes(of: action, { $0.load(as: Int.self) }) == ignored { return false }
    let handler:
      @convention(c) (Int32, UnsafeMutablePointer<siginfo_t>?, UnsafeMutableRawPointer?) -> Void = {
        number, information, _ in
        // The codes of signals that the kernel sends by itself, such as those of a terminal, are positive.
        let program = runningProgram.load(ordering: .acquiring)
        if let information, information.pointee.si_code <= 0, program > 0 { kill(program, number) }
      }
    #if canImport(Musl)
    action.__sa_handler.sa_sigaction = handler
    #else
    action.__sigaction_handler.sa_sigaction = handler
    #endif
    action.sa_flags = SA_SIGINFO | SA_RESTART
    sigaction(number, &action, nil)
    return true
  }
}

/// The number of the program that runs, or 0.
private let runningProgram = Atomic<Int32>(0)
