// SPDX-License-Identifier: Apache-2.0

#if Sealing && os(Linux)
@preconcurrency internal import KeyringPlatform
internal import KeyringRuntime
internal import KeyringStorage
internal import Synchronization

/// A child process, which runs a program for a key.
final class ChildProcess: Sendable {
  /// The pipes that the program's output and perhaps its messages come from.
  private let outputs: Mutex<[OpenFile]>
  /// A pipe whose reading end wakes ``read()`` to end the program.
  private let wake: (reading: OpenFile, writing: OpenFile)
  /// The number of the process, until it may belong to another one.
  private let number: Mutex<pid_t?>

  init(_ program: KeyProgram) throws(FileFailure) {
    // The calls for the actions fail only if no memory is left. Swift's own allocations then end the
    // process, too.
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }

    wake = try OpenFile.pipe()
    // The program has its own descriptors for its ends, which are closed here when it has started.
    var pipes = [try OpenFile.pipe()]
    if program.keepsMessages { pipes.append(try OpenFile.pipe()) }
    for (pipe, descriptor) in zip(pipes, [STDOUT_FILENO, STDERR_FILENO]) {
      posix_spawn_file_actions_adddup2(&actions, pipe.writing.descriptor, descriptor)
    }
    var input: OpenFile?
    if let bytes = program.input {
      let pipe = try OpenFile.pipe()
      // A pipe has room for a page, so the input fits without a reader.
      guard bytes.count <= 4096 else {
        throw FileFailure("can't be given more than 4096 bytes of input", number: EFBIG)
      }
      do throws(FileFailure) {
        try bytes.withUnsafeBytes { (bytes) throws(FileFailure) in try pipe.writing.write(bytes) }
      } catch {
        throw FileFailure("can't be given its input", number: error.number)
      }
      posix_spawn_file_actions_adddup2(&actions, pipe.reading.descriptor, STDIN_FILENO)
      input = pipe.reading
    }
    let number = try withExtendedLifetime((pipes, input)) { () throws(FileFailure) in
      try Self.start(program.words, &actions)
    }
    self.number = Mutex(number)
    outputs = Mutex(pipes.map { $0.reading })
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
    let error = posix_spawnp(&number, path(of: name), &actions, &attributes, &arguments, environ)
    guard error == 0 else { throw FileFailure("can't be started", number: error) }
    return number
  }

  /// Returns the path of a program, or its name for the search in `PATH`.
  private static func path(of name: String) -> String {
    // The caller must not choose a program that gets more rights than the caller has.
    guard EnvironmentVariable.isOfCaller, !name.contains("/") else { return name }
    // The last one is that of NixOS.
    let paths = ["/usr/bin", "/bin", "/run/current-system/sw/bin"].map { "\($0)/\(name)" }
    return paths.first { access($0, X_OK) == 0 } ?? paths[0]
  }

  /// Ends the program, and stops reading what it or a program of its own prints.
  func end() {
    send(SIGTERM)
    // The program may ignore that signal.
    let end = Int64.now(plus: .seconds(1))
    let shortage = ThreadExecutor.startThread(named: "swift-keyring k") { [weak self] in
      // A signal ends a sleep.
      while ThreadExecutor.now < end { usleep(UInt32(max(1, end - ThreadExecutor.now))) }
      self?.send(SIGKILL)
    }
    if shortage != nil { send(SIGKILL) }
    var byte: UInt8 = 0
    // The pipe has room, because it gets only a few bytes.
    _ = write(wake.writing.descriptor, &byte, 1)
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
    outputs.withLock { $0 = [] }
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
    let files = outputs.withLock { $0 } + [wake.reading]
    // The pipe that wakes stays the last one.
    var open = files.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
    while open.count > 1 {
      if poll(&open, nfds_t(open.count), -1) < 0 {
        guard errno == EINTR else { throw FileFailure("can't be read") }
        continue
      }
      if open.last?.revents != 0 { return count }
      for file in open where file.revents != 0 {
        let part: Int
        if file.fd == files[0].descriptor {
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

// Inside the type, its method has this name.
private let libcRead = read(_:_:_:)
#endif
