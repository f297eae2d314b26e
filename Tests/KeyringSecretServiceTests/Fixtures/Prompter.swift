// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Foundation
import Keyring
import Testing

/// A program that answers gnome-keyring's prompts from a script: `Tests/Fixtures/prompter.c`.
final class Prompter {
  enum Answer {
    case password(String)
    /// The answer yes to a question.
    case confirm
    case dismiss
    /// No answer, so that the prompt stays open.
    case wait

    fileprivate var argument: String {
      switch self {
      case .password(let text): "password:\(text)"
      case .confirm: "confirm"
      case .dismiss: "dismiss"
      case .wait: "wait"
      }
    }
  }

  private let program: Program

  /// Starts the program, and waits until the keyring can reach it.
  ///
  /// - Parameters:
  ///   - answers: The answers, one for each prompt.
  ///   - bus: The bus of the keyring, or `nil` for that of the private session.
  /// - Throws: An error if the program doesn't start.
  init(_ answers: Answer..., on bus: PrivateBus? = nil) throws {
    let path = try #require(ProcessInfo.processInfo.environment["KEYRING_TEST_PROMPTER"])
    program = try Program(path, answers.map(\.argument), environment: bus?.environment ?? [:])
    try #require(program.readLine() == "ready", "the prompter did not start")
  }

  /// Waits on a thread of its own until the program gets a prompt.
  func waitForPrompt() async throws {
    try #require(await program.nextLine() == "prompt")
  }

  /// Ends the program, and returns the number of prompts that it got.
  func finish() throws -> Int {
    String(decoding: try program.end(), as: UTF8.self).split(separator: "\n").count
  }
}

extension Prompter {
  /// Runs a closure that makes a collection, while a user answers the two questions about it.
  ///
  /// The first question asks for the password. The second one asks for a confirmation, because the
  /// prompter reports the password as weak.
  ///
  /// gnome-keyring 42.1 can't always use the key with which it gets the password. It then ends the
  /// prompt as if the user had declined ("Cannot import an invalid key").
  static func agreeing(
    on bus: PrivateBus? = nil, tries: Int = 3, _ body: () throws -> Void
  ) throws {
    let prompter = try Prompter(.password("the user's choice"), .confirm, on: bus)
    let result = Result(catching: body)
    let questions = try prompter.finish()
    if case .failure(let error as SecureStorageError) = result, error.code == .userCanceled,
      tries > 1
    {
      return try agreeing(on: bus, tries: tries - 1, body)
    }
    #expect(questions == 2)
    try result.get()
  }
}
#endif
