// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// A program that answers gnome-keyring's prompts from a script: `Tests/Fixtures/prompter.c` of swift-keyring.
struct Prompter {
  enum Answer: String {
    /// The password of the private session's keyring.
    case password
    case dismiss
    /// No answer, so that the prompt stays open.
    case wait

    fileprivate var argument: String {
      get throws {
        guard self == .password else { return rawValue }
        // gnome-keyring takes the line break for a part of the password with which the session has started it.
        return "password:\(try variable("KEYRING_TEST_PASSWORD"))\n"
      }
    }
  }

  private let program: Program

  /// Starts the program, and waits until the keyring can reach it.
  init(_ answer: Answer) throws {
    program = try Program(variable("KEYRING_TEST_PROMPTER"), [answer.argument])
    try #require(program.readLine() == "ready", "the prompter did not start")
  }

  /// Waits until the keyring asks.
  func waitForPrompt() throws { try #require(program.readLine() == "prompt") }

  /// Ends the program, so that another one can answer.
  func end() throws { _ = try program.end() }
}

private func variable(_ name: String) throws -> String {
  try #require(ProcessInfo.processInfo.environment[name])
}
