// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Tests of the command that takes the password of a keyring, each on a bus and a keyring of its own.
///
/// The keyring is started by the first call, as in a container or through ssh.
@Suite(.inPrivateSession, .needs("script"), .needs("stty"), .needs("gnome-keyring-daemon"))
struct UnlockTests {
  private let home = TemporaryDirectory()
  private let new = "New password of the keyring \"Default keyring\": "
  private let question = "Password of the keyring \"Default keyring\": "

  /// Returns a command of the shell, as it's run without a screen in the home directory.
  ///
  /// The keyring of an earlier command has ended with its bus.
  private func session(_ command: String) throws -> String {
    let configuration = home.path("bus.conf")
    try FileManager.default.createDirectory(
      atPath: home.path("services"), withIntermediateDirectories: true)
    try Data(
      """
      <busconfig><type>session</type><listen>unix:tmpdir=/tmp</listen><auth>EXTERNAL</auth>
      <servicedir>\(home.path("services"))</servicedir><policy context="default">
      <allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/>
      </policy></busconfig>
      """.utf8
    ).write(to: URL(fileURLWithPath: configuration))
    try Data(
      """
      [D-BUS Service]
      Name=org.freedesktop.secrets
      Exec=/usr/bin/env gnome-keyring-daemon --start --foreground --components=secrets

      """.utf8
    ).write(to: URL(fileURLWithPath: home.path("services/secrets.service")))
    let path = home.path("")
    return """
      env -u DISPLAY -u WAYLAND_DISPLAY -u DBUS_SESSION_BUS_ADDRESS HOME=\(path) XDG_RUNTIME_DIR=\(path) \
      XDG_DATA_HOME=\(path) dbus-run-session --config-file=\(configuration) -- sh -c '\(command)' \
      '\(Program.toolPath)'
      """
  }

  private func run(_ command: String, input: String = "") throws -> Program.Result {
    try Program.run("sh", ["-c", session(command)], input: Data(input.utf8))
  }

  @Test func `a new keyring is unlocked again in the next session`() throws {
    let first = try Program.inTerminal(
      command: session("\"$0\" unlock && echo s3cret | \"$0\" set service account; stty -a"))
    try first.answer(new, "Repeat the password: ", with: "mine")
    #expect(try first.waitFor("speed ").contains("mine") == false)
    #expect(try first.finish().output.contains(" echo "))

    let second = try Program.inTerminal(
      command: session("\"$0\" unlock; echo status $?; \"$0\" get service account --show"))
    try second.answer(question, with: "wrong")
    try second.answer("Wrong password.\r\n" + question, with: "mine")
    let output = try second.finish().output
    #expect(output.contains("status 0") && output.contains("s3cret"), "\(output)")
    #expect(!output.contains("mine"))

    let third = try Program.inTerminal(command: session("\"$0\" unlock; echo status $?"))
    for number in 1...3 { try third.answer(question, with: "wrong \(number)") }
    let refused = try third.finish().output
    #expect(refused.contains("The password of the keyring is wrong."), "\(refused)")
    #expect(refused.contains("status 2"))
  }

  @Test func `the password comes from standard input`() throws {
    let first = try run(
      "printf mine | \"$0\" unlock --password-stdin && echo s3cret | \"$0\" set service account")
    #expect(first.status == 0, "\(first)")
    let inputs: [(String, Int32)] = [
      ("wrong", 2), ("", 1), ("mine\n", 0), ("mine\r\n", 0), ("mine", 0),
    ]
    for (input, status) in inputs {
      let result = try run(
        "\"$0\" unlock --password-stdin && \"$0\" get service account", input: input)
      #expect(result.status == status, "\(input): \(result)")
      #expect(result.output == (status == 0 ? "s3cret" : ""))
      #expect(!result.errors.contains("mine"))
    }
  }

  @Test func `a terminal is refused as standard input`() throws {
    let result = try Program.inTerminal(command: session("\"$0\" unlock --password-stdin")).finish()
    #expect(
      result.status == 64 && result.output.contains("leave out --password-stdin"), "\(result)")
  }

  @Test func `nobody is asked without a terminal, or against the user's will`() throws {
    #expect(try run("printf mine | \"$0\" unlock --password-stdin").status == 0)
    let silent = try run("\"$0\" unlock")
    #expect(silent.status == 2 && silent.errors.contains("keyring-tool unlock"), "\(silent)")
    let refused = try Program.inTerminal(command: session("\"$0\" unlock --no-prompt")).finish()
    #expect(refused.status == 2 && !refused.output.contains(question), "\(refused)")
  }
}
