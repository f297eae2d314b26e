// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// The user's git, with a home of its own that configures only this helper.
final class Git {
  private let home = TemporaryDirectory()
  /// The program under the name that git looks for.
  let helper: String

  /// Makes the home.
  init() throws {
    helper = home.path("git-credential-keyring")
    try FileManager.default.createSymbolicLink(
      atPath: helper, withDestinationPath: Program.toolPath)
    try configure("credential.helper", helper)
  }

  func configure(_ name: String, _ value: String) throws {
    let outcome = try run(["git", "config", "--global", name, value])
    try #require(outcome.status == 0, "\(outcome.errors)")
  }

  /// Runs `git credential`, through which scripts use credentials as git does.
  func credential(_ action: String, _ lines: [String]) throws -> Program.Result {
    try run(["git", "credential", action], input: lines.map { $0 + "\n" }.joined())
  }

  /// Runs a program in the home, without the user's configuration.
  ///
  /// Git never asks the user.
  func run(_ command: [String], input: String = "") throws -> Program.Result {
    let environment = ProcessInfo.processInfo.environment
    let unset = environment.keys.filter { $0.hasPrefix("GIT_") }.flatMap { ["-u", $0] }
    let variables = [
      "HOME=\(home.path)", "XDG_CONFIG_HOME=\(home.path)",
      "PATH=\(environment["PATH"] ?? ""):\(home.path)", "GIT_CONFIG_NOSYSTEM=1",
      "GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=false",
    ]
    return try Program.run(
      "env", ["-C", home.path] + unset + variables + command, input: Data(input.utf8))
  }
}
