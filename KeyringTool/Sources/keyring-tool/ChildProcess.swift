// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CProcess
import KeyringToolCommands
import Synchronization

/// A child process with the input, output and environment of this one.
///
/// This process waits for it, or runs the other program in its place.
///
/// While this program waits, the other one gets the signals that other programs send to this one. A terminal sends
/// its signals to both, except for the one of a terminal that is closed.
struct ChildProcess {
  /// The end of a program.
  enum End {
    case exited(Int32)
    case killed(Int32)
    /// The program wasn't started, because of an error with this number.
    case notStarted(Int32)
  }

  /// The signals that are passed on.
  static let signals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP]

  /// The signals that this program was started with as blocked ones, if the first thread asks for them first.
  static let inheritedMask = {
    var mask = sigset_t()
    pthread_sigmask(SIG_SETMASK, nil, &mask)
    return mask
  }()

  /// Whether this program was started with an ignored SIGPIPE.
  ///
  /// GLib ignores the signal in the whole process. The other program must not inherit that.
  let ignoresPipes: Bool
  /// The descriptors that this program was started with.
  private let inherited = Set(Self.openDescriptors())

  /// Prepares the start of a program.
  ///
  /// Call this before a library opens files or changes how signals are handled.
  init() { ignoresPipes = Self.isIgnored(SIGPIPE) }

  /// Makes signals wait for the program, instead of ending this one.
  func holdSignals() {
    // If it's ignored, the end of the other program isn't known.
    signal(SIGCHLD, SIG_DFL)
    signal(SIGCONT) { _ in ChildProcess.goOn() }
    for number in Self.signals where !Self.isIgnored(number) {
      var action = sigaction()
      let handler:
        @convention(c) (Int32, UnsafeMutablePointer<siginfo_t>?, UnsafeMutableRawPointer?) -> Void =
          { number, information, _ in
            // Until the other program has stopped, the terminal is its own.
            if number == SIGTSTP { shouldStop.store(true, ordering: .sequentiallyConsistent) }
            // The codes of signals that the kernel sends by itself, such as those of a terminal, are positive.
            // A terminal that is closed signals only the first program of its session.
            let isForBoth =
              number != SIGHUP && !programHasTerminal.load(ordering: .sequentiallyConsistent)
              && information.map({ $0.pointee.si_code > 0 }) == true
            if isForBoth, runningProgram.load(ordering: .sequentiallyConsistent) > 0 { return }
            if number == SIGTSTP { passesStop.store(true, ordering: .sequentiallyConsistent) }
            pendingSignals.bitwiseOr(1 << UInt64(number), ordering: .sequentiallyConsistent)
            ChildProcess.passPendingSignalsOn()
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

  /// Runs this program once more, with other arguments, to its end.
  ///
  /// - Parameters:
  ///   - arguments: The arguments, with the name of the program and a NUL at the end of each.
  ///   - stopsWithProgram: Whether to stop whenever the other process has stopped.
  /// - Returns: The end of the program. It's a signal that arrived before the start, if there was one.
  func runAgain(_ arguments: [[CChar]], stopsWithProgram: Bool) -> End {
    if let early = Self.earlyEnd { return early }
    ProcessMemory.restoreLimit()
    var number: pid_t = 0
    let error = withPointers(arguments) { arguments in
      // After an update, another program has the path of this one.
      posix_spawn(&number, "/proc/self/exe", nil, nil, arguments, environ)
    }
    // The other process has a copy of the environment.
    ProcessMemory.forgetVariables()
    if error != 0 { return .notStarted(error) }
    Self.hasStarted(number)
    while Self.hasStopped(number) == true {
      // The shell continues both.
      if Self.isToStop || stopsWithProgram { raise(SIGSTOP) }
    }
    return Self.end(of: number)
  }

  /// The end by a signal that arrived before the program was started, if there was one.
  static var earlyEnd: End? {
    let early = pendingSignals.load(ordering: .sequentiallyConsistent) & ~(1 << UInt64(SIGTSTP))
    return early == 0 ? nil : .killed(Int32(early.trailingZeroBitCount))
  }

  /// Asks the program to end, now or when it starts.
  static func interrupt() {
    pendingSignals.bitwiseOr(1 << UInt64(SIGTERM), ordering: .sequentiallyConsistent)
    passPendingSignalsOn()
  }

  /// Passes signals on to a program from now on.
  static func hasStarted(_ number: pid_t) {
    runningProgram.store(number, ordering: .sequentiallyConsistent)
    passPendingSignalsOn()
  }

  /// Continues the program together with this one, unless a shell does that.
  ///
  /// The handler of SIGCONT calls this. A shell continues both, and may stop both again before the handler runs. The
  /// program would miss that stop, or would lose what was typed. So what a terminal has stopped is left to the shell.
  static func goOn() {
    let program = runningProgram.load(ordering: .sequentiallyConsistent)
    // One with a terminal of its own goes on when the terminal is ready.
    if program <= 0 || programHasTerminal.load(ordering: .sequentiallyConsistent) { return }
    let error = errno
    let new = keyring_tool_wait(program, WNOHANG)
    let known = stopOfProgram.exchange(0, ordering: .sequentiallyConsistent)
    let stop = new > 0 ? new : known
    let isPassedOn = passesStop.exchange(false, ordering: .sequentiallyConsistent)
    // The program may wait for one of its own that has stopped.
    let isForThisOne = stop == 0 || stop == SIGSTOP || stop == SIGTSTP && isPassedOn
    if isForThisOne { kill(program, SIGCONT) }
    errno = error
  }

  /// Waits until a program has stopped or ended.
  ///
  /// Its number isn't free for another program yet.
  ///
  /// - Parameters:
  ///   - number: The number of the program.
  ///   - options: `WNOHANG` to return `nil` if neither has happened, instead of waiting for it.
  /// - Returns: `true` if the program has stopped, or `false` if it has ended.
  static func hasStopped(_ number: pid_t, _ options: Int32 = 0) -> Bool? {
    let stop = keyring_tool_wait(number, options)
    guard stop > 0 else { return stop < 0 ? nil : false }
    stopOfProgram.store(stop, ordering: .sequentiallyConsistent)
    var information = siginfo_t()
    waitid(P_PID, id_t(number), &information, WSTOPPED | WNOHANG)
    return true
  }

  /// Returns the end of a program that has ended.
  static func end(of number: pid_t) -> End {
    runningProgram.store(0, ordering: .sequentiallyConsistent)
    var status: Int32 = 0
    while waitpid(number, &status, 0) < 0 {
      if errno != EINTR { return .notStarted(errno) }
    }
    let signal = status & 0x7f
    return signal == 0 ? .exited(status >> 8 & 0xff) : .killed(signal)
  }

  /// Whether this program was told to stop since the last time.
  static var isToStop: Bool { shouldStop.exchange(false, ordering: .sequentiallyConsistent) }

  /// Replaces this program by another one.
  ///
  /// - Parameter command: The name or path of the program, and its arguments, with a NUL at the end of each.
  /// - Returns: The number of the error, if the program can't be started.
  func replaceThisOne(by command: [[CChar]]) -> Int32 {
    ProcessMemory.restoreLimit()
    if !ignoresPipes { signal(SIGPIPE, SIG_DFL) }
    keepDescriptors()
    return withPointers(command) { arguments in
      execvp(command[0], arguments)
      return errno
    }
  }

  /// Keeps descriptors from other programs that this one wasn't started with.
  ///
  /// Those of the connections to a cluster would stay open.
  func keepDescriptors() {
    for descriptor in Self.openDescriptors() where !inherited.contains(descriptor) {
      _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    }
  }

  /// Ends this program with a signal, as the other program has ended.
  static func end(by number: Int32) {
    signal(number, SIG_DFL)
    var mask = inheritedMask
    if sigismember(&mask, number) == 0 {
      // Dispatch's threads block signals.
      sigemptyset(&mask)
      sigaddset(&mask, number)
      pthread_sigmask(SIG_UNBLOCK, &mask, nil)
    }
    raise(number)
  }

  /// Ends this program as another one has ended.
  static func finish(_ name: String, _ end: End) throws -> Never {
    switch end {
    case .exited(let status): throw ExitCode(status)
    case .killed(let signal):
      Self.end(by: signal)
      throw ExitCode(128 + signal)
    case .notStarted(let error):
      Terminal.complain("\(name) can't be started: \(String(cString: strerror(error)))")
      throw ExitCode(error == ENOENT ? 127 : 126)
    }
  }

  /// Makes a pipe of which one end doesn't block, with ends that no other program gets.
  static func makePipe(blocksReader: Bool = false) -> (reading: Int32, writing: Int32) {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { return (-1, -1) }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    _ = fcntl(blocksReader ? ends[1] : ends[0], F_SETFL, O_NONBLOCK)
    return (ends[0], ends[1])
  }

  private static func openDescriptors() -> [Int32] {
    guard let directory = opendir("/proc/self/fd") else { return [] }
    defer { closedir(directory) }
    var descriptors: [Int32] = []
    while let entry = readdir(directory) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) {
        String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
      }
      if let descriptor = Int32(name), descriptor != dirfd(directory) {
        descriptors.append(descriptor)
      }
    }
    return descriptors
  }

  func withPointers(
    _ texts: [[CChar]], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Int32
  ) -> Int32 {
    var pointers = texts.map { strdup($0) } + [nil]
    defer { for pointer in pointers { free(pointer) } }
    return pointers.withUnsafeMutableBufferPointer { buffer in
      buffer.baseAddress.map(body) ?? EINVAL
    }
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

  static func isIgnored(_ number: Int32) -> Bool {
    var action = sigaction()
    sigaction(number, nil, &action)
    let ignored = unsafeBitCast(SIG_IGN, to: Int.self)
    return withUnsafeBytes(of: action) { $0.load(as: Int.self) } == ignored
  }
}

/// The number of the program that runs, or 0.
private let runningProgram = Atomic<Int32>(0)

/// Whether this program is to stop when the other one does.
private let shouldStop = Atomic(false)

/// Whether this program has passed a stop on, of which the program's shell may not know.
private let passesStop = Atomic(false)

/// The signal that has stopped the program, until this one continues it, or 0.
private let stopOfProgram = Atomic<Int32>(0)

/// Whether the program has a terminal of its own, so that it doesn't get the signals of this one's.
let programHasTerminal = Atomic(false)

/// The signals that the program hasn't got yet, as one bit for each.
private let pendingSignals = Atomic<UInt64>(0)
