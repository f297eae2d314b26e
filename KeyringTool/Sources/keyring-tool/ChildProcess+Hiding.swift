// SPDX-License-Identifier: Apache-2.0

import CProcess
import Keyring
import KeyringToolCommands
import Synchronization

extension ChildProcess {
  /// Runs another program to its end, and hides secrets in what it prints.
  ///
  /// Where this program prints to a terminal, the other one has a terminal of its own, else pipes. What the programs
  /// print that it has left running is lost.
  ///
  /// - Parameters:
  ///   - command: The name or path of the program, and its arguments, with a NUL at the end of each.
  ///   - secrets: The secrets.
  /// - Returns: The end of the program. It's a signal that arrived before the start, if there was one.
  func run(_ command: [[CChar]], hiding secrets: [Secret]) -> End {
    guard Wake.ends.reading >= 0 else { return .notStarted(errno) }
    holdSignals()
    for number in Wake.signals { signal(number, Wake.handler) }
    var output = FilteredOutput(secrets)
    return output.run(command, by: self)
  }
}

/// The output and the input of a program, which pass through this one.
private struct FilteredOutput {
  private struct Stream {
    var source: Int32
    let target: Int32
    let filter: HidingFilter
  }

  private var streams: [Stream] = []
  /// Both ends of the program's terminal, or -1.
  private var terminal: Int32 = -1
  private var other: Int32 = -1
  /// The pipe that says whether the program is in the foreground of its terminal.
  private let control = ChildProcess.makePipe()
  /// The terminal that controls this program, or -1.
  private var keyboard: Int32 = -1
  private var isInForeground = true
  /// The bytes that were typed and not yet passed on.
  private let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 1)
  private let typed = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 10, alignment: 1)
  private var typedCount = 0
  private var started = keyring_tool_program()

  init(_ secrets: [Secret]) {
    let screen = [STDOUT_FILENO, STDERR_FILENO].first { isatty($0) != 0 }
    if let screen { openTerminal(for: screen) }
    let ofTerminal = [STDOUT_FILENO, STDERR_FILENO].filter {
      terminal >= 0 && Self.device($0) == Self.device(screen ?? -1)
    }
    var ends: [Int32] = [keyboard >= 0 && isatty(STDIN_FILENO) != 0 ? other : STDIN_FILENO]
    for target in [STDOUT_FILENO, STDERR_FILENO] {
      let isTerminal = ofTerminal.contains(target)
      let new =
        isTerminal ? (reading: terminal, writing: other) : ChildProcess.makePipe()
      ends.append(new.writing)
      // Both have the terminal, which is read once.
      if isTerminal, target != screen { continue }
      let filter = HidingFilter(secrets, isTerminal: isTerminal)
      streams.append(Stream(source: new.reading, target: target, filter: filter))
    }
    started.streams = (ends[0], ends[1], ends[2])
    (started.terminal, started.own_end, started.control) = (other, terminal, control.reading)
    for number in ChildProcess.signals { started.passed |= 1 << UInt64(number) }
  }

  /// Makes a terminal for the program, with the state and the size of the one that this program has.
  private mutating func openTerminal(for screen: Int32) {
    terminal = keyring_tool_make_terminal(&other)
    guard terminal >= 0 else { return }
    programHasTerminal.store(true, ordering: .sequentiallyConsistent)
    keyboard = open("/dev/tty", O_RDWR | O_CLOEXEC)
    var state = termios()
    if tcgetattr(screen, &state) == 0 { tcsetattr(other, TCSANOW, &state) }
    // Until the program wants to read, another one may use the terminal, such as a pager.
    isInForeground =
      keyboard < 0 || isatty(STDIN_FILENO) != 0 && isatty(STDOUT_FILENO) != 0 && ownsKeyboard
    OuterTerminal.descriptor = keyboard
    resize()
  }

  private var ownsKeyboard: Bool { tcgetpgrp(keyboard) == getpgrp() }

  private static func device(_ descriptor: Int32) -> dev_t {
    var status = stat()
    return fstat(descriptor, &status) == 0 && isatty(descriptor) != 0 ? status.st_rdev : 0
  }

  private func resize() {
    var size = winsize()
    let screen = [keyboard, STDOUT_FILENO, STDERR_FILENO].first { isatty($0) != 0 } ?? -1
    if ioctl(screen, UInt(TIOCGWINSZ), &size) == 0 { _ = ioctl(terminal, UInt(TIOCSWINSZ), &size) }
  }

  mutating func run(_ command: [[CChar]], by program: ChildProcess) -> ChildProcess.End {
    if let early = ChildProcess.earlyEnd { return early }
    program.keepDescriptors()
    ProcessMemory.restoreLimit()
    if keyboard >= 0, isInForeground { OuterTerminal.becomeRaw() }
    defer {
      OuterTerminal.restore()
      for buffer in [room, typed] { buffer.wipe() }
    }
    started.is_in_foreground = isInForeground ? 1 : 0
    started.ignores_pipes = program.ignoresPipes ? 1 : 0
    var error: Int32 = 0
    let number = program.withPointers(command) { arguments in
      started.arguments = UnsafePointer(arguments)
      return keyring_tool_start(&started, &error)
    }
    for descriptor in Set([other, started.streams.1, started.streams.2]) where descriptor > 2 {
      close(descriptor)
    }
    if number < 0 { return .notStarted(error) }
    ChildProcess.hasStarted(number)
    Wake.unblock()
    while true {
      pass()
      Wake.forget()
      if terminal >= 0 { resize() }
      if keyboard >= 0, isInForeground { OuterTerminal.becomeRaw() }
      switch ChildProcess.hasStopped(number, WNOHANG) {
      case nil: continue
      case true?: stop(number)
      case false?:
        passRest()
        let end = ChildProcess.end(of: number)
        return error == 0 ? end : .notStarted(error)
      }
    }
  }

  /// Stops this program together with the other one, which begins to read the keyboard when it continues.
  private mutating func stop(_ number: pid_t) {
    let isToStop = ChildProcess.isToStop
    if isToStop || terminal >= 0 && (isInForeground || !ownsKeyboard) {
      OuterTerminal.restore()
      var before = sigaction()
      sigaction(SIGTSTP, nil, &before)
      signal(SIGTSTP, SIG_DFL)
      raise(SIGTSTP)
      sigaction(SIGTSTP, &before, nil)
    }
    // The shell has continued both.
    if terminal < 0 { return }
    isInForeground = keyboard < 0 || ownsKeyboard
    if keyboard >= 0, isInForeground { OuterTerminal.becomeRaw() }
    resize()
    var byte: UInt8 = isInForeground ? 1 : 0
    _ = write(control.writing, &byte, 1)
    kill(number, SIGCONT)
  }

  /// Passes bytes on until a signal has arrived.
  private mutating func pass() {
    while true {
      let canType = keyboard >= 0 && isInForeground && terminal >= 0 && typedCount == 0
      var places = [
        pollfd(fd: Wake.ends.reading, events: Int16(POLLIN), revents: 0),
        pollfd(fd: canType ? keyboard : -1, events: Int16(POLLIN), revents: 0),
        pollfd(fd: typedCount > 0 ? terminal : -1, events: Int16(POLLOUT), revents: 0),
      ]
      places += streams.map { pollfd(fd: $0.source, events: Int16(POLLIN), revents: 0) }
      if poll(&places, nfds_t(places.count), -1) < 0 { continue }
      if places[1].revents != 0 {
        typedCount = max(0, read(keyboard, typed.baseAddress, typed.count))
        if typedCount == 0, errno != EINTR { keyboard = -1 }
      }
      if typedCount > 0 {
        let written = max(0, write(terminal, typed.baseAddress, typedCount))
        let rest = UnsafeRawBufferPointer(rebasing: typed[written..<typedCount])
        typed.copyMemory(from: rest)
        typedCount = rest.count
      }
      for index in streams.indices where places[index + 3].revents != 0 { passOn(index) }
      if places[0].revents != 0 { return }
    }
  }

  /// Reads what a stream has, and returns the number of bytes, or 0 if there is nothing more.
  @discardableResult
  private mutating func passOn(_ index: Int) -> Int {
    let stream = streams[index]
    let count = read(stream.source, room.baseAddress, room.count)
    if count < 0, errno == EINTR || errno == EAGAIN { return 0 }
    do {
      if count > 0 {
        try stream.filter.filter(UnsafeRawBufferPointer(rebasing: room[..<count])) {
          try Terminal.write($0, to: stream.target, endsWithReader: false)
        }
        return count
      }
    } catch {}
    // The program notices that nobody reads its output any more.
    close(stream.source)
    if stream.source == terminal { terminal = -1 }
    streams[index].source = -1
    return 0
  }

  /// Passes on what the program had printed when it ended.
  ///
  /// Programs that it has left running may print for ever.
  private mutating func passRest() {
    for index in streams.indices {
      var rest = 1 << 17
      while streams[index].source >= 0, rest > 0, case let count = passOn(index), count > 0 {
        rest -= count
      }
      let target = streams[index].target
      try? streams[index].filter.finish {
        try Terminal.write($0, to: target, endsWithReader: false)
      }
    }
  }
}

/// The terminal of this program, which passes keys on to the program's.
private enum OuterTerminal {
  // Handlers of signals read these.
  nonisolated(unsafe) static var descriptor: Int32 = -1
  nonisolated(unsafe) private static var isRaw = false
  nonisolated(unsafe) private static var before = termios()
  /// The signals that don't end a program by default, or that no program can catch.
  private static let harmless = [
    SIGKILL, SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU, SIGCONT, SIGCHLD, SIGURG, SIGWINCH,
  ]

  /// Passes on each key as it's typed, also after another program has changed that.
  static func becomeRaw() {
    if !isRaw, tcgetattr(descriptor, &before) != 0 { return }
    isRaw = true
    for number in Int32(1)...64 where !harmless.contains(number) {
      var action = sigaction()
      guard sigaction(number, nil, &action) == 0,
        withUnsafeBytes(of: action, { $0.load(as: Int.self) }) == 0
      else { continue }
      signal(number) { number in
        OuterTerminal.restore()
        signal(number, SIG_DFL)
        raise(number)
      }
    }
    var raw = before
    cfmakeraw(&raw)
    tcsetattr(descriptor, TCSANOW, &raw)
  }

  /// Lets the terminal work as before, unless it belongs to another program now.
  static func restore() {
    guard isRaw else { return }
    isRaw = false
    if tcgetpgrp(descriptor) == getpgrp() { tcsetattr(descriptor, TCSADRAIN, &before) }
  }
}
