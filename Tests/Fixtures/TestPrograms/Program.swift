// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
package import Foundation

/// A program that runs beside the tests, which write its input and read its output.
package final class Program: Sendable {
  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()

  /// Starts a program by its path or its name on `PATH`, and adds variables to its environment.
  package init(
    _ name: String, _ arguments: [String] = [], environment: [String: String] = [:],
    complaints: FileHandle = .standardError
  ) throws {
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [name] + arguments
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    process.standardInput = input
    process.standardOutput = output
    process.standardError = complaints
    // A thread of Dispatch blocks signals, and a program that it starts would do so too. A bus that
    // blocks SIGCHLD doesn't notice that a program it has started is gone.
    var (none, ours) = (sigset_t(), sigset_t())
    sigemptyset(&none)
    pthread_sigmask(SIG_SETMASK, &none, &ours)
    defer { pthread_sigmask(SIG_SETMASK, &ours, nil) }
    try process.run()
  }

  /// Returns the path of a program that is built beside the tests.
  package static func path(of name: String) -> String {
    URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
      .appendingPathComponent(name).path
  }

  /// The path of `Tests/Fixtures/KeyringWorker`.
  package static let workerPath = path(of: "KeyringWorker")

  /// Starts the worker.
  package static func worker(_ arguments: String...) throws -> Program {
    try Program(workerPath, arguments)
  }

  /// Starts a Python script of `Tests/Fixtures`.
  package static func script(
    _ name: String, _ arguments: [String] = [], environment: [String: String] = [:],
    complaints: FileHandle = .standardError
  ) throws -> Program {
    try Program(
      "/usr/bin/python3", ["-I", pathOfScript(name)] + arguments, environment: environment,
      complaints: complaints)
  }

  /// Returns the path of a script of `Tests/Fixtures`.
  package static func pathOfScript(_ name: String) -> String {
    URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../\(name)").path
  }

  deinit { killAndWait() }

  /// Kills the program if it runs, and takes its status.
  ///
  /// Foundation does that when nobody has the program's files any more, which a program that it has
  /// started may keep. Until then, an exit test would take the dead program for its own, and never end.
  package func killAndWait() {
    let number = process.processIdentifier
    if number > 0, waitpid(number, nil, WNOHANG) == 0 {
      kill(number, SIGKILL)
      waitpid(number, nil, 0)
    }
  }

  /// The number of the process.
  package var number: Int32 { process.processIdentifier }

  /// The names of the threads that run.
  package func threadNames() throws -> [String] {
    let path = "/proc/\(number)/task"
    return try FileManager.default.contentsOfDirectory(atPath: path).compactMap { thread in
      // A thread may have ended.
      (try? String(contentsOfFile: "\(path)/\(thread)/comm", encoding: .utf8))?
        .trimmingCharacters(in: .newlines)
    }
  }

  /// Waits for a line of output, and reads nothing after it.
  ///
  /// - Parameter patience: The milliseconds in which the next byte must come, or -1 for a program that may be silent.
  /// - Returns: The line without its end.
  /// - Throws: An error if nothing comes in time, or if the output ends instead.
  package func readLine(patience: Int32 = 300_000) throws -> String {
    var line: [UInt8] = []
    var source = pollfd(
      fd: output.fileHandleForReading.fileDescriptor, events: Int16(POLLIN), revents: 0)
    while line.last != UInt8(ascii: "\n") {
      guard poll(&source, 1, patience) != 0 else { throw POSIXError(.ETIMEDOUT) }
      guard let byte = try readByte() else { throw POSIXError(.EPIPE) }
      line.append(byte)
    }
    return String(decoding: line.dropLast(), as: UTF8.self)
  }

  /// Waits for a byte of output, or returns `nil` if the output has ended.
  package func readByte() throws -> UInt8? {
    try output.fileHandleForReading.read(upToCount: 1)?.first
  }

  /// Writes a line to the program's input, and leaves the input open.
  package func writeLine(_ line: String) throws { try write(line + "\n") }

  /// Writes text to the program's input, and leaves the input open.
  package func write(_ text: String) throws {
    try input.fileHandleForWriting.write(contentsOf: Data(text.utf8))
  }

  /// Reads output until it ends with a text, the output ends, or nothing comes for a minute.
  package func read(until end: String) throws -> String {
    var text = ""
    var source = pollfd(
      fd: output.fileHandleForReading.fileDescriptor, events: Int16(POLLIN), revents: 0)
    while !text.hasSuffix(end), poll(&source, 1, 60_000) > 0, let byte = try readByte() {
      text.append(Character(UnicodeScalar(byte)))
    }
    return text
  }

  package func closeInput() throws { try input.fileHandleForWriting.close() }

  /// Waits on a thread of its own for a line of output.
  package func nextLine() async throws -> String {
    try await withCheckedThrowingContinuation { continuation in
      DispatchQueue(label: "Program").async { [self] in
        continuation.resume(with: Result { try readLine() })
      }
    }
  }

  /// Writes all of the program's input, and waits for the program to end.
  package func finish(input text: Data = Data()) throws -> (status: Int32, output: Data) {
    if !text.isEmpty { try input.fileHandleForWriting.write(contentsOf: text) }
    try closeInput()
    let rest = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return (process.terminationStatus, rest)
  }

  /// Stops the program where it is, or lets it go on.
  package func suspend(_ isSuspended: Bool = true) {
    kill(process.processIdentifier, isSuspended ? SIGSTOP : SIGCONT)
    guard isSuspended else { return }
    // Until all of its threads have stopped, it still answers.
    _ = waitUntil {
      var information = siginfo_t()
      let options = WSTOPPED | WNOWAIT | WNOHANG
      let result = waitid(P_PID, id_t(process.processIdentifier), &information, options)
      return result != 0 || information.si_signo != 0
    }
  }

  /// Tells the program to end, and waits until it has.
  ///
  /// After a minute, it's killed.
  package func terminate() {
    kill(process.processIdentifier, SIGTERM)
    _ = waitUntil { waitpid(process.processIdentifier, nil, WNOHANG) != 0 }
    killAndWait()
    // Otherwise Foundation keeps its files.
    process.waitUntilExit()
  }

  /// Kills the program, and returns the rest of its output.
  @discardableResult
  package func end() throws -> Data {
    killAndWait()
    // Otherwise Foundation keeps its files.
    process.waitUntilExit()
    return try output.fileHandleForReading.readToEnd() ?? Data()
  }
}

extension Program {
  /// Starts a command in a terminal, with all signals unblocked and not ignored.
  ///
  /// A child inherits the signal mask of the thread that starts it, and Dispatch's threads block most
  /// signals. It also inherits what nohup and a shell in the background ignore.
  package static func inTerminal(_ command: String) throws -> Program {
    let free = """
      import os, signal, sys
      signal.pthread_sigmask(signal.SIG_SETMASK, [])
      for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
          signal.signal(number, signal.SIG_DFL)
      os.execvp(sys.argv[1], sys.argv[1:])
      """
    return try Program(
      "/usr/bin/python3",
      ["-I", "-c", free, "script", "--quiet", "--return", "--command", command, "/dev/null"])
  }
}
#endif
