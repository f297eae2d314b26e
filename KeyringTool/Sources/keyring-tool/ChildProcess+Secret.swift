// SPDX-License-Identifier: Apache-2.0

import CProcess
import Keyring
import KeyringStorage
import KeyringToolCommands

extension ChildProcess {
  /// Runs another program to its end, which gets a secret as its input, and prints one.
  ///
  /// What the programs print that it has left running is lost. If this program is killed, the other one is, too.
  /// Otherwise, it would go on with a secret that belongs to the next one's turn.
  ///
  /// - Parameters:
  ///   - command: The name or path of the program, and its arguments, with a NUL at the end of each.
  ///   - input: The input, or `nil` for none.
  /// - Returns: The end of the program, and its output. The end is a signal that arrived before the start, if there
  ///   was one.
  /// - Throws: ``ToolFailure`` for an output that is longer than a secret.
  func run(_ command: [[CChar]], input: Secret?) throws -> (end: End, output: Secret) {
    guard Wake.ends.reading >= 0 else { return (.notStarted(errno), Secret(bytes: [])) }
    holdSignals()
    signal(SIGCHLD, Wake.handler)
    // The program may end before it has read its input.
    let before = signal(SIGPIPE, SIG_IGN)
    defer { signal(SIGPIPE, before) }
    var exchange = SecretExchange(input: input)
    defer { exchange.end() }
    let end = exchange.run(command, by: self)
    return (end, try exchange.output)
  }
}

/// The secret that a program reads, and the one that it prints.
private struct SecretExchange {
  /// A secret may have a mark at the start and a line end that aren't a part of it.
  private static let limit = ItemLimits.secretBytes + 5

  private let input: Secret?
  private var written = 0
  /// The end of the pipe that the program reads, or -1 once it has everything.
  private var source: Int32 = -1
  /// The end of the pipe that the program writes to, or -1 after the end.
  private var target: Int32 = -1
  // The system provides memory only for what is read.
  private let room = UnsafeMutableRawBufferPointer.allocate(byteCount: limit + 1, alignment: 1)
  private var count = 0

  init(input: Secret?) { self.input = input }

  var output: Secret {
    get throws {
      if count > Self.limit {
        throw ToolFailure(
          "The program has printed more than \(Self.limit) bytes.",
          recoverySuggestion: "Nothing was stored. Check the program.")
      }
      return Secret(copying: UnsafeRawBufferPointer(rebasing: room[..<count]))
    }
  }

  mutating func end() {
    UnsafeMutableRawBufferPointer(rebasing: room[..<count]).wipe()
    room.deallocate()
    shut(&source)
    shut(&target)
  }

  private func shut(_ descriptor: inout Int32) {
    if descriptor >= 0 { close(descriptor) }
    descriptor = -1
  }

  mutating func run(_ command: [[CChar]], by program: ChildProcess) -> ChildProcess.End {
    if let early = ChildProcess.earlyEnd { return early }
    program.keepDescriptors()
    ProcessMemory.restoreLimit()
    ProcessMemory.forgetVariables()
    let inputs = ChildProcess.makePipe(blocksReader: true)
    var error: Int32 = inputs.reading < 0 ? errno : 0
    let outputs = ChildProcess.makePipe()
    if outputs.reading < 0 { error = errno }
    (source, target) = (inputs.writing, outputs.reading)
    var started = keyring_tool_program()
    started.streams = (inputs.reading, outputs.writing, STDERR_FILENO)
    (started.terminal, started.own_end, started.control) = (-1, -1, -1)
    // This thread waits until the program has ended.
    started.ends_with_this_one = 1
    started.ignores_pipes = program.ignoresPipes ? 1 : 0
    let number =
      error != 0
      ? -1
      : program.withPointers(command) { arguments in
        started.arguments = UnsafePointer(arguments)
        // Dispatch's threads block signals.
        var (mask, before) = (ChildProcess.inheritedMask, sigset_t())
        pthread_sigmask(SIG_SETMASK, &mask, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        return keyring_tool_start(&started, &error)
      }
    for descriptor in [inputs.reading, outputs.writing] where descriptor >= 0 {
      close(descriptor)
    }
    if number < 0 { return .notStarted(error) }
    ChildProcess.hasStarted(number)
    Wake.unblock()
    send()
    while true {
      pass()
      Wake.forget()
      switch ChildProcess.hasStopped(number, WNOHANG) {
      case nil: continue
      case true?:
        // The shell continues both.
        if ChildProcess.isToStop { raise(SIGSTOP) }
      case false?:
        // Programs that it has left running may print for ever.
        while receive() {}
        let end = ChildProcess.end(of: number)
        return error == 0 ? end : .notStarted(error)
      }
    }
  }

  /// Passes bytes on until a signal has arrived.
  private mutating func pass() {
    while true {
      var places = [
        pollfd(fd: Wake.ends.reading, events: Int16(POLLIN), revents: 0),
        pollfd(fd: source, events: Int16(POLLOUT), revents: 0),
        pollfd(fd: target, events: Int16(POLLIN), revents: 0),
      ]
      if poll(&places, nfds_t(places.count), -1) < 0 { continue }
      if places[1].revents != 0 { send() }
      if places[2].revents != 0 { receive() }
      if places[0].revents != 0 { return }
    }
  }

  /// Writes as much of the input as the program takes, which may be nothing.
  private mutating func send() {
    let rest = (input?.count ?? 0) - written
    let added =
      rest == 0
      ? 0
      : input?.withUnsafeBytes { write(source, $0.baseAddress.map { $0 + written }, rest) }
    if let added, added < 0, errno == EINTR || errno == EAGAIN { return }
    written += max(0, added ?? 0)
    if written == input?.count ?? 0 || (added ?? 0) < 0 { shut(&source) }
  }

  /// Reads what the program has printed, and returns `false` if there is nothing more now.
  @discardableResult
  private mutating func receive() -> Bool {
    guard target >= 0 else { return false }
    let added = read(target, room.baseAddress.map { $0 + count }, room.count - count)
    if added < 0, errno == EINTR || errno == EAGAIN { return false }
    count += max(0, added)
    if added > 0, count < room.count { return true }
    // A program that prints too much notices that nobody reads it.
    shut(&target)
    return false
  }
}
