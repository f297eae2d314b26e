// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// A person in front of the app's window: the program `person.py`.
///
/// The person waits for everything that a test asks for. If it doesn't happen, the test fails with the texts that
/// the window shows.
struct Person {
  /// The app, which ends with the person.
  let app: Program
  private let program: Program

  /// Starts the app, and waits for its window.
  init() throws {
    // The app is next to the bundle of its tests. It ends if GTK complains about a wrong call.
    let path = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
      .appendingPathComponent("SignIn").path
    app = try Program("env", ["G_DEBUG=fatal-criticals", path])
    let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("person.py").path
    program = try Program(script, ["Sign In"])
    try #require(program.readLine() == "ready")
  }

  /// Waits until the window shows all of these texts.
  func see(_ texts: String...) throws { try ask("see", texts) }

  /// Waits until the window doesn't show a text.
  func miss(_ text: String) throws { try ask("miss", [text]) }

  /// Clicks a button.
  func click(_ button: String) throws { try ask("click", [button]) }

  /// Replaces the text of a field.
  func type(_ text: String, into field: String) throws { try ask("type", [field, text]) }

  /// Presses a key.
  func press(_ key: String) throws { try ask("press", [key]) }

  /// Returns the text of a field as a screen reader gets it.
  func read(_ field: String) throws -> String { try ask("read", [field]) }

  /// Looks at another window for a moment.
  func leaveAndReturn() throws {
    try ask("leave", [])
    try ask("return", [])
  }

  @discardableResult
  private func ask(_ verb: String, _ arguments: [String]) throws -> String {
    try program.writeLine(([verb] + arguments.map { "\"\($0)\"" }).joined(separator: " "))
    return try program.readLine()
  }
}
