// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Foundation
import Testing

/// The user's git, with a home of its own that configures only this helper.
final class Git {
  /// The output of a process, and its exit status.
  struct Outcome: Equatable {
    var status: Int32 = 0
    var output = ""
    var errors = ""
  }

  /// The directory of the helper, which is built beside the tests.
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

  /// Runs `git credential`, through which scripts use credentials as git does.
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
    // The write comes before the start, because a program that reads nothing may soon be gone.
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

  /// An environment without the user's configuration, in which git never asks the user.
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
  /// The signal isn't SIGTERM, which a thread of Dispatch blocks in the programs that it starts.
  fileprivate func end() {
    guard isRunning else { return }
    kill(processIdentifier, SIGKILL)
    waitUntilExit()
  }
}
#endif
