// SPDX-License-Identifier: Apache-2.0

import Foundation
import Keyring
import Testing

/// Tests of the window on a virtual screen, with a real keyring.
@Suite(.serialized, .onPrivateScreen) struct WindowTests {
  private static let service = "org.example.SignIn"
  // These properties are in another process than the app's. A test has no default storage.
  @Credentials("account", service: service, storage: SecretServiceStorage())
  private var account: Credential?
  @Password("token", service: service, storage: SecretServiceStorage())
  private var token: String?

  init() throws { _ = try secretTool("clear", "service", Self.service) }

  private func secretTool(_ arguments: String...) throws -> String {
    try Program.run("secret-tool", arguments).output
  }

  /// Locks the keyring, as another program does.
  private func lockKeyring() throws {
    let result = try Program.run(
      "gdbus",
      [
        "call", "--session", "--dest", "org.freedesktop.secrets", "--object-path",
        "/org/freedesktop/secrets", "--method", "org.freedesktop.Secret.Service.Lock",
        "['/org/freedesktop/secrets/aliases/default']",
      ])
    try #require(result.status == 0, "\(result.errors)")
  }

  @Test func `a person signs in and out, and saves a token`() throws {
    let person = try Person()
    try person.see("The keyring is unlocked.", "Signed out", "No token")
    try person.type("ada@example.org", into: "Login")
    try person.type("pa55 w0rd", into: "Password")
    try person.click("Sign In")
    try person.see("Signed in as ada@example.org")
    #expect(
      try secretTool("lookup", "service", Self.service, "username", "ada@example.org")
        == "pa55 w0rd")
    #expect(try person.read("Login") == "ada@example.org")

    try person.type("t0ken", into: "Token")
    try person.press("Return")
    try person.see("A token is stored")
    #expect(try secretTool("lookup", "service", Self.service, "username", "token") == "t0ken")
    try person.click("Remove")
    try person.see("No token")
    #expect(try secretTool("lookup", "service", Self.service, "username", "token") == "")

    try person.click("Sign Out")
    try person.see("Signed out")
    #expect(try secretTool("search", "--all", "service", Self.service) == "")
    #expect(try person.read("Login") == "")

    try person.click("Close")
    let result = try person.app.finish()
    #expect(result.status == 0)
    #expect(!(result.output + result.errors).contains("pa55"))
  }

  @Test func `the window shows the changes of other programs`() throws {
    let person = try Person()
    try person.see("Signed out", "No token")
    try $account.write(Credential(login: "grace", password: "pa55"))
    try person.see("Signed in as grace")
    try $token.write("t0ken")
    try person.see("A token is stored")
    #expect(try person.read("Login") == "grace")

    // Another program changes the account while a person types.
    try person.type("ada", into: "Login")
    try $account.write(Credential(login: "hopper", password: "pa55"))
    try person.see("Signed in as hopper")
    #expect(try person.read("Login") == "ada")

    _ = try secretTool("clear", "service", Self.service)
    try person.see("Signed out", "No token")
    try Program.run(
      "secret-tool", ["store", "--label=token", "service", Self.service, "username", "token"],
      input: "0ther")
    try person.see("A token is stored")
    try $token.write(nil)
    try person.see("No token")
  }

  @Test func `a person unlocks the keyring, or doesn't`() throws {
    try $account.write(Credential(login: "ada", password: "old"))
    let person = try Person()
    try person.see("Signed in as ada")
    try lockKeyring()
    try person.leaveAndReturn()
    try person.see("The keyring is locked.", "Hidden while the keyring is locked")
    #expect(try person.read("Login") == "")

    try person.type("ada", into: "Login")
    try person.type("pa55", into: "Password")
    let refusal = try Prompter(.dismiss)
    try person.click("Sign In")
    try person.see("The user dismissed the keyring's prompt.", "Try again, and answer the prompt.")
    try refusal.end()

    let hesitation = try Prompter(.wait)
    try person.press("Return")
    try hesitation.waitForPrompt()
    try person.see("Waiting for the keyring…")
    try person.miss("The user dismissed the keyring's prompt.")
    try person.click("Cancel")
    try person.see("The keyring is locked.")
    try hesitation.end()

    let answer = try Prompter(.password)
    try person.click("Sign In")
    try person.see("Signed in as ada", "The keyring is unlocked.")
    try answer.end()
    #expect(try secretTool("lookup", "service", Self.service, "username", "ada") == "pa55")
  }
}
