// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// A running program that a test talks to like a person or a script.
final class Program {
  /// The exit status and the output of a program.
  struct Result: Equatable {
    var status: Int32 = 0
    var output = ""
    var errors = ""
  }

  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()
  private let errors = Pipe()
  private var text = Data()

  /// Keeps SIGPIPE from ending the tests, if a program ends before it has read its input.
  ///
  /// A child would inherit that the signal is ignored, but it doesn't inherit a handler.
  private static let handlesBrokenPipes: Void = { _ = signal(SIGPIPE) { _ in } }()

  init(_ name: String, _ arguments: [String]) throws {
    Self.handlesBrokenPipes
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [name] + arguments
    process.standardInput = input
    process.standardOutput = output
    process.standardError = errors
    try process.run()
  }

  deinit {
    // Don't use terminate(): a child inherits the signal mask of Dispatch's threads, which block SIGTERM.
    if process.isRunning { kill(process.processIdentifier, SIGKILL) }
  }

  /// The path of the tool, which is next to the bundle of its tests.
  static var toolPath: String {
    URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
      .appendingPathComponent("keyring-tool").path
  }

  static func tool(_ arguments: [String], input: String = "") throws -> Result {
    try run(toolPath, arguments, input: Data(input.utf8))
  }

  static func run(_ name: String, _ arguments: [String], input: Data = Data()) throws -> Result {
    let program = try Program(name, arguments)
    // A program can end without reading its input. Its status and its output show whether that's a failure.
    try? program.input.fileHandleForWriting.write(contentsOf: input)
    try program.input.fileHandleForWriting.close()
    return try program.finish()
  }

  /// A program that starts another one with all signals unblocked and not ignored.
  ///
  /// A child inherits the signal mask of the thread that starts it, and Dispatch's threads block most
  /// signals. It also inherits what nohup and a shell in the background ignore.
  static let free = """
    import os, signal, sys
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_DFL)
    os.execvp(sys.argv[1], sys.argv[1:])
    """

  /// Runs a command of a shell in a terminal.
  static func inTerminal(command: String) throws -> Program {
    let script = ["script", "--quiet", "--return", "--command", command, "/dev/null"]
    return try Program("python3", ["-c", free] + script)
  }

  /// Runs the tool in a terminal.
  static func inTerminal(_ arguments: [String]) throws -> Program {
    try inTerminal(
      command: ([toolPath] + arguments).map { "'\($0)'" }.joined(separator: " "))
  }

  /// Stores an item as another program does.
  static func storeTheirs(_ attributes: [String], label: String = "x", secret: String = "theirs")
    throws
  {
    let store = ["store", "--label", label] + attributes
    #expect(try run("secret-tool", store, input: Data(secret.utf8)).status == 0)
  }

  /// Runs the tool on a bus that accepts its connection and never answers, with one pipe for both outputs.
  static func onSilentBus(_ arguments: [String], in directory: TemporaryDirectory) throws -> Program
  {
    let script = """
      import os, socket, sys
      listener = socket.socket(socket.AF_UNIX)
      listener.bind(sys.argv[1])
      listener.listen()
      os.environ["DBUS_SESSION_BUS_ADDRESS"] = "unix:path=" + sys.argv[1]
      os.set_inheritable(listener.fileno(), True)
      os.dup2(1, 2)
      os.execv(sys.argv[2], sys.argv[2:])
      """
    let command = ["python3", "-c", script, directory.path("bus"), toolPath]
    return try Program("python3", ["-c", free] + command + arguments)
  }

  static func isInstalled(_ name: String) -> Bool {
    (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
      .contains { FileManager.default.isExecutableFile(atPath: "\($0)/\(name)") }
  }

  /// Sends a signal to the program.
  func send(_ signal: Int32) { kill(process.processIdentifier, signal) }

  func type(_ text: String) throws {
    try input.fileHandleForWriting.write(contentsOf: Data(text.utf8))
  }

  /// Types a line as the answer to each of some prompts, and returns the output before them.
  @discardableResult
  func answer(_ prompts: String..., with line: String) throws -> String {
    try prompts.map { prompt in
      let output = try waitFor(prompt)
      try type(line + "\n")
      return output
    }.joined()
  }

  /// Reads until the program has written a text.
  ///
  /// The output after it stays available.
  ///
  /// - Returns: The output before the text.
  @discardableResult
  func waitFor(_ expected: String) throws -> String {
    while true {
      if let range = text.range(of: Data(expected.utf8)) {
        defer { text = Data(text[range.upperBound...]) }
        return String(decoding: text[..<range.lowerBound], as: UTF8.self)
      }
      let more = try more("write \"\(expected)\"")
      try #require(!more.isEmpty, "the program ended without writing \"\(expected)\"")
      text += more
    }
  }

  /// Waits for more output, which is empty at the end.
  private func more(_ purpose: String) throws -> Data {
    var descriptor = pollfd(
      fd: output.fileHandleForReading.fileDescriptor, events: Int16(POLLIN), revents: 0)
    try #require(poll(&descriptor, 1, 120_000) > 0, "the program does not \(purpose)")
    return output.fileHandleForReading.availableData
  }

  /// Waits for the program to end, which may print nothing for two minutes at most.
  func finish() throws -> Result {
    while case let more = try more("end"), !more.isEmpty { text += more }
    let errors = try errors.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return Result(
      status: process.terminationStatus, output: String(decoding: text, as: UTF8.self),
      errors: String(decoding: errors, as: UTF8.self))
  }
}
