// SPDX-License-Identifier: Apache-2.0

#if Sealing && os(Linux)
internal import CLinux
@preconcurrency internal import KeyringLibc
internal import KeyringStorage
internal import Synchronization

/// Another program that prints a key.
struct KeyProgram: Sendable {
  /// The largest output that is read, in bytes.
  static let largest = 64 << 10

  /// The name or path of the program, and its arguments.
  let words: [String]
  /// The input of the program, or `nil` for the input of this process, such as a terminal.
  var input: Secret?
  /// Indicates whether the program's messages become a part of an error.
  ///
  /// Otherwise they're written to standard error, where the user can see questions.
  var keepsMessages = false

  /// The end of a program.
  struct End: Sendable {
    let output: Secret
    let messages: String
    /// The exit status, or 128 and the number of the signal.
    let status: Int32
  }

  /// Runs the program until it exits.
  ///
  /// If the task is cancelled, a signal ends the program.
  func run(for request: KeyRequest) async throws(SecureStorageError) -> End {
    try await BlockingPool.run(orThrow: request.error(.canceled)) {
      () throws(SecureStorageError) in
      do throws(FileFailure) {
        let child = try Child(self)
        guard let signal = CancellationSignal.current else { return try child.read() }
        let end = try signal.onCancel({ child.end() }, while: child.read)
        if !signal.isCancelled { return end }
      } catch {
        if !CancellationSignal.isCurrentCancelled { throw failure(error, request) }
      }
      throw request.error(.canceled)
    }
  }

  private func failure(_ cause: FileFailure, _ request: KeyRequest) -> SecureStorageError {
    let command = words.first.map { "command \($0)" } ?? "command"
    return request.error(
      .other, "The \(command) \(cause.problem).",
      recoverySuggestion: "Install it, or correct its name.", underlying: cause.underlying)
  }
}

/// A running program.
private final class Child: Sendable {
  /// The ends of the pipes that the program writes to, which ``read()`` closes.
  private let output: Int32
  private let messages: Int32?
  /// A pipe whose reading end wakes ``read()`` when the program is to end.
  private let wake: (reading: Int32, writing: Int32)
  /// The number of the process, until it may belong to another one.
  private let number: Mutex<pid_t?>

  init(_ program: KeyProgram) throws(FileFailure) {
    var descriptors = Descriptors()
    defer { descriptors.close() }
    // The calls for the actions fail only if no memory is left. Swift's own allocations then end the
    // process, too.
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }

    let output = try descriptors.pipe()
    posix_spawn_file_actions_adddup2(&actions, output.writing, STDOUT_FILENO)
    var messages: Int32?
    if program.keepsMessages {
      let pipe = try descriptors.pipe()
      posix_spawn_file_actions_adddup2(&actions, pipe.writing, STDERR_FILENO)
      messages = pipe.reading
    }
    wake = try descriptors.pipe()
    if let input = program.input {
      let pipe = try descriptors.pipe()
      // A pipe has room for a page, so the input fits without a reader.
      guard input.count <= 4096 else {
        throw FileFailure("can't be given more than 4096 bytes of input", number: EFBIG)
      }
      let count = input.withUnsafeBytes { write(pipe.writing, $0.baseAddress, $0.count) }
      guard count == input.count else { throw FileFailure("can't be given its input") }
      posix_spawn_file_actions_adddup2(&actions, pipe.reading, STDIN_FILENO)
    }
    number = Mutex(try Self.start(program.words, &actions))
    (self.output, self.messages) = (output.reading, messages)
    descriptors.keep(
      [output.reading, wake.reading, wake.writing] + (messages.map { [$0] } ?? []))
  }

  deinit {
    close(wake.reading)
    close(wake.writing)
  }

  private static func start(
    _ words: [String], _ actions: inout posix_spawn_file_actions_t
  ) throws(FileFailure) -> pid_t {
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    // GLib ignores SIGPIPE in the whole process, the threads of Dispatch block signals, and a server may ignore
    // the signal that ends the program.
    var signals = sigset_t()
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    for number in [SIGPIPE, SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGCHLD] {
      sigaddset(&signals, number)
    }
    posix_spawnattr_setsigdefault(&attributes, &signals)
    posix_spawnattr_setflags(
      &attributes, Int16(POSIX_SPAWN_SETSIGDEF) | Int16(POSIX_SPAWN_SETSIGMASK))
    var arguments = words.map { strdup($0) } + [nil]
    defer { for argument in arguments { free(argument) } }
    guard let name = words.first else { throw FileFailure("has no program", number: EINVAL) }
    var number: pid_t = 0
    let error = posix_spawnp(&number, name, &actions, &attributes, &arguments, environ)
    guard error == 0 else { throw FileFailure("can't be started", number: error) }
    return number
  }

  /// Ends the program, unless it has ended, and stops reading what it or a program of its own prints.
  func end() {
    send(SIGTERM)
    // The program may ignore that signal.
    let end = Int64.now(plus: .seconds(1))
    let isStarted = ThreadExecutor.startThread(named: "swift-keyring k") { [weak self] in
      // A signal ends a sleep.
      while ThreadExecutor.now < end { usleep(UInt32(max(1, end - ThreadExecutor.now))) }
      self?.send(SIGKILL)
    }
    if !isStarted { send(SIGKILL) }
    var byte: UInt8 = 0
    // The pipe has room, because it gets only a few bytes.
    _ = write(wake.writing, &byte, 1)
  }

  private func send(_ signal: Int32) {
    number.withLock { number in
      // A program that runs as another user, such as sudo, can't be ended. It ends by itself.
      if let number { kill(number, signal) }
    }
  }

  /// Reads what the program prints, and waits for its end.
  func read() throws(FileFailure) -> KeyProgram.End {
    var text: [UInt8] = []
    let result = Result { () throws(FileFailure) in
      try Secret(capacity: KeyProgram.largest + 1) { (room) throws(FileFailure) in
        try read(into: room, messages: &text)
      }
    }
    switch result {
    case .success(let secret) where secret.count <= KeyProgram.largest: break
    default: end()
    }
    // A program whose output isn't read would wait for that.
    close(output)
    messages.map { _ = close($0) }
    let status = try wait()
    let secret = try result.get()
    guard secret.count <= KeyProgram.largest else {
      throw FileFailure("prints more than \(KeyProgram.largest) bytes", number: EFBIG)
    }
    return KeyProgram.End(
      output: secret, messages: String(decoding: text, as: UTF8.self), status: status)
  }

  private func read(
    into room: UnsafeMutableRawBufferPointer, messages text: inout [UInt8]
  ) throws(FileFailure) -> Int {
    var count = 0
    var open = [pollfd(fd: output, events: Int16(POLLIN), revents: 0)]
    if let messages { open.append(pollfd(fd: messages, events: Int16(POLLIN), revents: 0)) }
    open.append(pollfd(fd: wake.reading, events: Int16(POLLIN), revents: 0))
    while open.count > 1 {
      if poll(&open, nfds_t(open.count), -1) < 0 {
        guard errno == EINTR else { throw FileFailure("can't be read") }
        continue
      }
      if open.contains(where: { $0.fd == wake.reading && $0.revents != 0 }) { return count }
      for file in open where file.revents != 0 {
        let part: Int
        if file.fd == output {
          let rest = UnsafeMutableRawBufferPointer(rebasing: room[count...])
          // The last byte shows that the output is too large.
          part = rest.isEmpty ? 0 : libcRead(file.fd, rest.baseAddress, rest.count)
          count += max(0, part)
        } else {
          var buffer = [UInt8](repeating: 0, count: 4096)
          part = libcRead(file.fd, &buffer, buffer.count)
          if text.count < buffer.count { text += buffer.prefix(max(0, part)) }
        }
        if part < 0, errno != EINTR, errno != EAGAIN { throw FileFailure("can't be read") }
        if part == 0 { open.removeAll { $0.fd == file.fd } }
      }
    }
    return count
  }

  private func wait() throws(FileFailure) -> Int32 {
    // The number isn't free for another process until the second call, unless the app ignores SIGCHLD.
    let process = number.withLock { $0 ?? 0 }
    var information = siginfo_t()
    while waitid(P_PID, id_t(process), &information, WEXITED | WNOWAIT) < 0, errno == EINTR {}
    return try number.withLock { (number) throws(FileFailure) in
      number = nil
      var status: Int32 = 0
      while waitpid(process, &status, 0) < 0 {
        // If the app ignores SIGCHLD, the system doesn't keep the status, and the output may be wrong.
        if errno != EINTR { throw FileFailure("has ended, but its exit status is unknown") }
      }
      let signal = status & 0x7f
      return signal == 0 ? status >> 8 & 0xff : 128 + signal
    }
  }
}

/// Descriptors that are closed at the end of a scope, except for those to keep.
private struct Descriptors {
  private var open: [Int32] = []

  mutating func pipe() throws(FileFailure) -> (reading: Int32, writing: Int32) {
    var ends: [Int32] = [-1, -1]
    guard swift_keyring_pipe(&ends) == 0 else { throw FileFailure("can't be started") }
    open += ends
    return (ends[0], ends[1])
  }

  mutating func keep(_ kept: [Int32]) { open.removeAll { kept.contains($0) } }

  func close() { for descriptor in open { _ = KeyringLibc.close(descriptor) } }
}

// Inside the type, its method has this name.
private let libcRead = read(_:_:_:)
#endif
