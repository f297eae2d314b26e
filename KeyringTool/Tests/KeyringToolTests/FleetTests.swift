// SPDX-License-Identifier: Apache-2.0

#if Etcd
import Foundation
import Testing

/// Tests of the program on the cluster of `Scripts/private-cluster`.
@Suite(
  .serialized,
  .enabled(
    if: ProcessInfo.processInfo.environment["CLUSTER_PROCESSES"] != nil,
    "no private cluster: run .ci/check-keyring-tool --fleet"))
struct FleetTests {
  private let namespace = "etcd:tool-\(UUID().uuidString)"
  private let directory = TemporaryDirectory()
  private let item = ["--service", "mail", "--account", "smtp"]

  private var fleet: [String] { ["--storage", namespace, "--key-file", directory.path("key")] }

  private func tool(_ arguments: String...) throws -> Program.Result {
    try Program.tool(arguments + fleet)
  }

  @Test func `the program sets, gets, lists and removes items of a fleet`() throws {
    #expect(try tool("list").errors.contains("namespace"))
    #expect(try tool("initialize").output == "created\n")
    #expect(try tool("initialize").output == "the namespace exists\n")
    #expect(try Program.tool(["set"] + item + fleet, input: "s3cret hällo\n").status == 0)
    #expect(try Program.tool(["get"] + item + fleet).output == "s3cret hällo")
    let list = try tool("list").output
    #expect(list.contains("username=smtp") && !list.contains("s3cret"))
    #expect(try Program.tool(["remove"] + item + fleet).output == "removed 1\n")
    #expect(try tool("list").output.isEmpty)
  }

  @Test func `the program prints the permissions of a role`() throws {
    #expect(try tool("initialize").status == 0)
    let lines = try tool("permissions", "--service", "mail", "--role", "mail").output
    #expect(lines.hasPrefix("etcdctl role grant-permission --prefix 'mail' read"))
    let ofServer = try tool("permissions", "--server", "mail", "--role", "mail")
    #expect(ofServer.status == 0 && ofServer.output != lines)
    #expect(try tool("permissions", "--role", "mail").status != 0)
  }

  @Test func `the doctor names each node and the keys`() throws {
    let missing = try tool("doctor")
    #expect(missing.status == 1 && missing.output.contains("failure  keys"))
    #expect(try tool("initialize").status == 0)
    let found = try tool("doctor", "--write")
    #expect(found.status == 0 && found.output.contains("writing"))
    #expect(found.output.split(separator: "\n").count { $0.contains("node https://") } == 3)
  }

  @Test func `the program has the user and the password of etcdctl`() throws {
    #expect(try tool("initialize").status == 0)
    for arguments in [
      ["user", "add", "root:s3cret"], ["role", "add", "root"],
      ["user", "grant-role", "root", "root"], ["auth", "enable"],
    ] {
      #expect(try Program.run("etcdctl", arguments).status == 0, "\(arguments)")
    }
    defer {
      for arguments in [
        ["--user", "root:s3cret", "auth", "disable"], ["user", "delete", "root"],
        ["role", "delete", "root"],
      ] { _ = try? Program.run("etcdctl", arguments) }
    }
    func list(_ variables: String...) throws -> Program.Result {
      try Program.run("env", variables + [Program.toolPath, "list"] + fleet)
    }
    #expect(try list().errors.contains("A program without a user"))
    #expect(try list("ETCDCTL_PASSWORD=s3cret").errors.contains("ETCDCTL_USER"))
    #expect(try list("ETCDCTL_USER=root").errors.contains("ETCDCTL_PASSWORD"))
    #expect(try list("ETCDCTL_USER=root:wrong").errors.contains("password"))
    #expect(try list("ETCDCTL_USER=root:s3cret").status == 0)
    #expect(try list("ETCDCTL_USER=root", "ETCDCTL_PASSWORD=s3cret").status == 0)
    // The program that is run has no connection to the cluster. The tool itself inherits a socket from Foundation.
    let variables = ["ETCDCTL_USER=root:s3cret"]
    let stored = [Program.toolPath, "set", "--service", "mail", "--account", "me"] + fleet
    #expect(
      try Program.run("env", variables + stored, input: Data("s3cret".utf8)).status == 0)
    let script = """
      show="ls -l /proc/self/fd | grep -c -e socket: -e eventpoll"; sh -c "$show"
      exec "$0" run --service mail --env ME=me "$@" -- sh -c "$show; echo \\$ME"
      """
    let result = try Program.run(
      "env", variables + ["sh", "-c", script, Program.toolPath] + fleet)
    let lines = result.output.split(separator: "\n")
    #expect(lines.count == 3 && lines[0] == lines[1] && lines[2] == "s3cret", "\(result)")
  }

  @Test func `options of the keyring are refused`() throws {
    for arguments in [
      ["list", "--collection", "x"], ["lock"], ["collections"], ["list", "--no-prompt"],
    ] {
      let result = try Program.tool(arguments + fleet)
      #expect(result.status == 64 && result.errors.contains("keyring"), "\(arguments)")
    }
    #expect(try Program.tool(["list", "--storage", namespace]).errors.contains("--key-file"))
    #expect(try Program.tool(["rotate"]).errors.contains("only for a fleet"))
  }
}
#endif
