// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Tests of the window with a keyring that ends, which would disturb all other tests.
@Suite(
  .onPrivateScreen,
  .enabled(
    if: ProcessInfo.processInfo.environment["KEYRING_TEST_KILLS"] != nil,
    "no private session of its own: run .ci/check-sign-in"))
struct LostKeyringTests {
  @Test func `the window tells why there is no keyring`() throws {
    let person = try Person()
    try person.see("The keyring is unlocked.")
    try killKeyring()
    try person.leaveAndReturn()
    try person.see(
      "The keyring can’t be used.", "No program on the session bus provides a keyring.",
      "Install gnome-keyring, which starts when it's needed, or start KWallet or KeePassXC.")
    // The findings, of which each is one line
    try person.see("ok: SecretServiceStorage, session bus: unix:")
    try person.click("Close")
    #expect(try person.app.finish().status == 0)
  }

  /// Kills the keyring of the private session, which nothing starts again.
  private func killKeyring() throws {
    let answer = try Program.run(
      "gdbus",
      [
        "call", "--session", "--dest", "org.freedesktop.DBus", "--object-path",
        "/org/freedesktop/DBus", "--method",
        "org.freedesktop.DBus.GetConnectionUnixProcessID", "org.freedesktop.secrets",
      ])
    // The answer is "(uint32 1234,)".
    let process = try #require(
      answer.output.split(whereSeparator: { " ,".contains($0) }).dropFirst().first
        .flatMap { Int32($0) })
    kill(process, SIGKILL)
  }
}
