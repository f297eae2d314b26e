#if SecretService && os(Linux)
import Foundation
import Testing

/// The user's git, with a home of its own in which the helper is the only one configured.
final class Git {
  /// What a process printed, and how it ended.
  struct Outcome: Equatable {
    var status: Int32 = 0
    var output = ""
    var errors = ""
  }

  /// The folder in which the helper was built, beside the tests.
  static let binaries = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
  static let helper = binaries.appending(path: "git-credential-keyring").path

  private let home: URL

  /// Makes the home.
  init(helper: String = helper) throws {
    home = FileManager.default.temporaryDirectory.appending(path: "git-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: home, withIntermediateDirectories: true)
    try configure("credential.helper", helper)
  }

  deinit {
    do {
      try FileManager.default.removeItem(at: home)
    } catch {
      Issue.record(error)
    }
  }

  func configure(_ name: String, _ value: String) throws {
    let outcome = try run(["git", "config", "--global", name, value], input: "")
    try #require(outcome.status == 0, "\(outcome.errors)")
  }

  /// Runs `git credential`, the way that scripts use credentials and git does.
  func credential(_ action: String, _ lines: [String]) throws -> Outcome {
    try run(["git", "credential", action], input: lines.map { $0 + "\n" }.joined())
  }

  /// Runs a program in the home.
  func run(_ command: [String], input: String) throws -> Outcome {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = command
    process.environment = environment
    process.currentDirectoryURL = home
    let (stdin, stdout, stderr) = (Pipe(), Pipe(), Pipe())
    process.standardInput = stdin
    process.standardOutput = stdout
    process.standardError = stderr
    // A program that reads nothing may be gone when a later write would come.
    try stdin.fileHandleForWriting.write(contentsOf: Data(input.utf8))
    try process.run()
    defer { process.end() }
    try stdin.fileHandleForWriting.close()
    let output = try stdout.fileHandleForReading.readToEnd() ?? Data()
    let errors = try stderr.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return Outcome(
      status: process.terminationStatus, output: String(decoding: output, as: UTF8.self),
      errors: String(decoding: errors, as: UTF8.self))
  }

  /// Nothing of the user's configuration, and nobody to ask for what no helper knows.
  private var environment: [String: String] {
    var environment = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("GIT_") }
    environment["HOME"] = home.path
    environment["XDG_CONFIG_HOME"] = home.path
    environment["PATH"] = "\(environment["PATH"] ?? ""):\(Self.binaries.path)"
    environment["GIT_CONFIG_NOSYSTEM"] = "1"
    environment["GIT_TERMINAL_PROMPT"] = "0"
    environment["GIT_ASKPASS"] = "false"
    return environment
  }
}

extension Process {
  /// Ends the process if it still runs.
  ///
  /// Not by SIGTERM: what a thread of Dispatch starts has that blocked.
  fileprivate func end() {
    guard isRunning else { return }
    kill(processIdentifier, SIGKILL)
    waitUntilExit()
  }
}
#endif
