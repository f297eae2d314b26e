// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Foundation
import Testing

/// A virtual screen for keyrings whose dialogs are windows.
final class Screen {
  /// The name by which programs find the screen.
  let display: String
  private let program: Program

  init() throws {
    program = try Program("Xvfb", ["-displayfd", "1", "-nolisten", "tcp"], complaints: .nullDevice)
    display = ":\(try program.readLine())"
    try #require(display != ":", "the screen did not start")
  }

  /// Returns `true` if there is a window with these words in its title.
  func shows(_ title: String) throws -> Bool {
    try Program("xdotool", Self.search(title), environment: ["DISPLAY": display]).finish().status
      == 0
  }

  fileprivate static func search(_ title: String, _ options: String...) -> [String] {
    ["search"] + options + ["--onlyvisible", "--name", title]
  }

  /// The user, who answers one dialog on the screen.
  final class User {
    enum Answer {
      /// The password that unlocks a database or a wallet.
      case unlock(String = KeePassXC.password)
      /// The refusal to unlock a database.
      case leaveLocked
      /// The permission for a program to use the items that it asks for.
      case allow
      /// The refusal of that permission.
      case deny

      fileprivate var title: String {
        switch self {
        case .unlock, .leaveLocked:
          Provider.current == .kwallet ? "KDE Wallet Service" : "Unlock Database"
        case .allow, .deny: "Access Request"
        }
      }

      fileprivate var keys: [String] {
        switch self {
        case .unlock(let password):
          ["type", "--window", "0", "--delay", "0", "--args", "1", password] + Self.press("Return")
        case .allow: Self.press("Return")
        case .leaveLocked, .deny: Self.press("Escape")
        }
      }

      /// Returns the arguments that press a key in the window in front.
      ///
      /// The dialog that was found may be gone when the key is released.
      private static func press(_ key: String) -> [String] { ["key", "--window", "0", key] }
    }

    private let program: Program

    /// Answers a dialog as soon as it appears, or gives up after 10 seconds.
    init(_ answer: Answer, at screen: Screen) throws {
      program = try Program(
        "timeout",
        ["10", "xdotool"] + search(answer.title, "--sync") + ["windowfocus", "--sync"]
          + answer.keys,
        environment: ["DISPLAY": screen.display])
    }

    /// Waits until the dialog is answered.
    func finish() throws {
      try #require(program.finish().status == 0, "the dialog did not appear")
    }
  }
}
#endif
