// SPDX-License-Identifier: Apache-2.0

import Foundation
import Keyring
import KeyringStorage
import KeyringToolCommands
import Testing

@Suite struct UpdateTests {
  private let storage = InMemoryStorage()
  private let selection = ItemSelection(service: "service", account: "me")
  private let key = ItemKey.password(service: "service", account: "me")
  private var commands: ItemCommands { ItemCommands(storage) }

  private func update(
    within time: Duration? = nil, expires: String? = nil, isBinary: Bool = false,
    _ program: @Sendable (Secret?) async throws -> Secret
  ) async throws -> UpdateOutcome {
    try await commands.update(
      selection, expiringWithin: time, expires: expires.flatMap { ExpiryTime($0) },
      timeout: .seconds(60), isBinary: isBinary, program)
  }

  @Test func `a program gets the old secret, and makes the new one`() async throws {
    let first = try await update { old in
      #expect(old == nil)
      return Secret("first\n")
    }
    #expect(first.hasStored && first.secret.text == "first")
    let second = try await update { old in
      #expect(old?.text == "first")
      return Secret("second\n\n")
    }
    #expect(second.secret.text == "second\n")
    #expect(try await update(isBinary: true) { _ in Secret("third\n") }.secret.text == "third\n")
    #expect(try await storage.item(for: key)?.secret?.text == "third\n")
    #expect(try await storage.item(for: key)?.attributes == [:])
  }

  @Test(arguments: ["", "a", "a\n", "a\r\n", "\u{FEFF}a", "\0"])
  func `the old secret as output changes nothing`(text: String) async throws {
    try await storage.save(
      SecureItem(key: key, secret: Secret(text), attributes: ["expires": "2026-01-01T00:00:00Z"]),
      mode: .add)
    let before = try await storage.item(for: key)
    let outcome = try await update { try #require($0) }
    #expect(!outcome.hasStored && outcome.secret.text == text)
    #expect(try await storage.item(for: key) == before)
    // A new time is stored with it.
    #expect(try await update(expires: "1h") { try #require($0) }.secret.text == text)
    let item = try #require(try await storage.item(for: key))
    #expect(item.secret?.text == text && item.expires.map { $0 > .now } == true)
  }

  @Test func `an empty output or an error stores nothing`() async throws {
    for secret in [Secret("old"), nil] {
      if let secret { try await storage.save(SecureItem(key: key, secret: secret), mode: .add) }
      for output in ["", "\n"] {
        await #expect(throws: ToolFailure.self) { try await update { _ in Secret(output) } }
      }
      await #expect(throws: CancellationError.self) {
        try await update { _ in throw CancellationError() }
      }
      #expect(try await storage.item(for: key)?.secret == secret)
      _ = try await storage.remove(key)
    }
  }

  @Test func `only an item that expires soon is renewed on request`() async throws {
    await #expect(throws: ToolFailure.self) {
      try await update(within: .zero) { _ in Secret("new") }
    }
    #expect(try await storage.item(for: key) == nil)
    try await storage.save(SecureItem(key: key, secret: Secret("old")), mode: .add)
    #expect(try await !update(within: .zero) { _ in Secret("new") }.hasStored)
    _ = try await update(expires: "1h") { try #require($0) }
    #expect(try await !update(within: .seconds(3500)) { _ in Secret("new") }.hasStored)
    let outcome = try await update(within: .seconds(3700), expires: "2h") { _ in Secret("new") }
    #expect(outcome.hasStored && outcome.secret.text == "new")
    #expect(try await !update(within: .seconds(3700)) { _ in Secret("newer") }.hasStored)
    // The time belongs to the old secret.
    #expect(try await update { _ in Secret("newest") }.hasStored)
    #expect(try await storage.item(for: key)?.expires == nil)
  }

  @Test func `a time counts from the start of the program`() async throws {
    let expires = try #require(ExpiryTime("1h", now: .distantPast))
    _ = try await commands.update(selection, expires: expires, timeout: .seconds(60)) { _ in
      Secret("new")
    }
    let date = try #require(try await storage.item(for: key)?.expires)
    #expect(abs(date.timeIntervalSinceNow - 3600) < 60)
  }

  @Test func `what others change meanwhile isn't undone`() async throws {
    try await storage.save(SecureItem(key: key, secret: Secret("old")), mode: .add)
    let outcome = try await update { [storage, key] old in
      if old?.text == "old" {
        try await storage.save(SecureItem(key: key, secret: Secret("other")), mode: .update)
      }
      return Secret("new of \(old?.text ?? "")")
    }
    #expect(outcome.secret.text == "new of other")
    await #expect(throws: ToolFailure.self) {
      try await update { [storage, key] _ in
        _ = try await storage.remove(key)
        return Secret("new")
      }
    }
    #expect(try await storage.item(for: key) == nil)
  }

  /// Makes an item, and changes it as another program does after its first read that includes the details.
  private func changed(
    after details: ItemQuery.Details, from old: SecureItem, to new: SecureItem
  ) throws -> ItemCommands {
    try storage.save(old, mode: .add)
    return ItemCommands(
      AlteringStorage(
        base: storage,
        afterReading: { [storage] query in
          #expect(throws: Never.self) {
            let current = try storage.item(for: old.key, details: .all)
            guard query.details.isSuperset(of: details), current?.secret == old.secret,
              current?.expires == old.expires
            else { return }
            try storage.save(new, mode: .update)
          }
        }))
  }

  @Test func `a secret isn't taken for valid because of the time of the next one`() async throws {
    var old = SecureItem(key: key, secret: Secret("old"))
    var new = SecureItem(key: key, secret: Secret("new"))
    (old.expires, new.expires) = (.distantPast, .distantFuture)
    let commands = try changed(after: .secret, from: old, to: new)
    let outcome = try await commands.update(
      selection, expiringWithin: .zero, timeout: .seconds(60)
    ) { _ in Secret("newer") }
    #expect(!outcome.hasStored && outcome.secret.text == "new")
  }

  @Test func `a time that another program stores before the turn isn't kept`() async throws {
    let old = SecureItem(key: key, secret: Secret("old"))
    var dated = old
    dated.expires = .distantFuture
    let commands = try changed(after: [], from: old, to: dated)
    let outcome = try await commands.update(selection, timeout: .seconds(60)) { _ in Secret("new") }
    #expect(outcome.hasStored)
    let item = try #require(try await storage.item(for: key))
    #expect(item.secret?.text == "new" && item.expires == nil)
  }

  @Test func `a credential keeps its login, and a missing one isn't made`() async throws {
    let selection = ItemSelection(service: "service", credential: "git")
    let update = { [commands] in
      try await commands.update(selection, timeout: .seconds(60)) { _ in Secret("new") }
    }
    await #expect(throws: ToolFailure.self) { try await update() }
    try commands.set(Secret("old"), for: selection, login: "ada")
    #expect(try await update().hasStored)
    let key = ItemKey.credentials(service: "service", label: "git")
    #expect(try await storage.item(for: key)?.attributes == ["username": "ada"])
  }
}

/// Tests of the command that updates an item of an encrypted file.
@Suite(.needs("python3"))
struct UpdateCommandTests {
  private let directory = TemporaryDirectory()
  private var options: [String] { directory.storage }
  private let item = ["org.example.app", "token"]

  /// A server that accepts each token once, and writes down what it has got.
  private static let server = """
    import fcntl, os, secrets, sys, time
    token = sys.stdin.read()
    with open(sys.argv[1], "r+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        lines = file.read().split("\\n")
        new = secrets.token_hex(16)
        file.write(("grant " + new if lines[-2].split()[-1] == token else "reuse - " + lines[-2].split()[-1]) + "\\n")
    time.sleep(0.02)
    print(new)
    """

  init() throws {
    // The key file is made with the first item.
    let set = try Program.tool(["set", "other", "me"] + options, input: "s3cret")
    #expect(set.status == 0, "\(set)")
  }

  private func update(_ more: [String] = [], _ command: [String]) throws -> Program.Result {
    let arguments = ["update"] + item + options + more + ["--"] + command
    return try Program.run("python3", ["-c", Program.free, Program.toolPath] + arguments)
  }

  private func stored() throws -> String { try Program.tool(["get"] + item + options).output }

  @Test func `two shells that see an expired token at once send it once`() throws {
    let log = directory.path("log")
    try "grant first\n".write(toFile: log, atomically: true, encoding: .utf8)
    var token = "first"
    for round in 1...20 {
      let set = ["set"] + item + options + ["--expires", "2020-01-01"]
      #expect(try Program.tool(set, input: token).status == 0)
      let refresh =
        ["update"] + item + options
        + ["--if-expired", "--expires", "1h", "--print", "--", "python3", "-c", Self.server, log]
      let both = try [0, 1].map { _ in try Program(Program.toolPath, refresh) }
      let results = try both.map { try $0.finish() }
      token = try stored()
      try #require(results == [.init(output: token), .init(output: token)])
      let lines = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n")
      let grants = lines.count { $0.hasPrefix("grant ") }
      try #require(grants == round + 1 && lines.count == grants, "\(lines)")
    }
  }

  @Test func `the program's status is passed on, and nothing is stored`() throws {
    #expect(try update(["--print"], ["sh", "-c", "cat; echo new"]) == .init(output: "new"))
    for (command, status) in [
      (["sh", "-c", "echo newer; exit 7"], 7),
      (["sh", "-c", "echo newer; kill -TERM $$"], SIGTERM),
      (["true"], 1), (["/nonexistent/program"], 127), (["/etc/passwd"], 126),
      (["head", "-c", "5000000", "/dev/zero"], 1),
    ] {
      let result = try update(["--print"], command)
      #expect(result.status == Int32(status) && result.output.isEmpty, "\(command): \(result)")
    }
    #expect(try stored() == "new")
  }

  @Test func `a missing item isn't renewed, and one that's valid is printed`() throws {
    let missing = try update(["--if-expired", "--print"], ["echo", "new"])
    #expect(missing.status == 3 && missing.output.isEmpty, "\(missing)")
    #expect(try update(["--expires", "1h"], ["echo", "first"]) == .init())
    let more = ["--if-expired", "--print", "--within"]
    #expect(try update(more + ["59m"], ["echo", "new"]) == .init(output: "first"))
    let renewed = try update(more + ["61m"], ["echo", "new"])
    #expect(renewed.output == "new" && renewed.errors.contains("use --expires"), "\(renewed)")
  }

  @Test func `a large secret passes through`() throws {
    let bytes = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) })
    let set = ["set", "--binary"] + item + options
    #expect(try Program.run(Program.toolPath, set, input: bytes).status == 0)
    // The program that it leaves running has the output, and nothing else that the test waits for.
    let left = #"import subprocess as s; s.Popen(["sleep", "600"], stderr=s.DEVNULL)"#
    let script = "cat >\"$0\"; printf new; python3 -c '\(left)'"
    #expect(try update(["--print"], ["sh", "-c", script, directory.path("copy")]).output == "new")
    #expect(FileManager.default.contents(atPath: directory.path("copy")) == bytes)
  }

  @Test func `a signal goes to the program, which decides`() throws {
    let wait = "trap '%' TERM; kill -TERM $PPID; while :; do :; done"
    for (action, result) in [("echo new; exit 0", (0, "new")), ("exit 5", (5, ""))] {
      let end = try update(["--print"], ["sh", "-c", wait.replacing("%", with: action)])
      #expect(end.status == Int32(result.0) && end.output == result.1, "\(end)")
    }
    let end = try update([], ["sh", "-c", wait.replacing("'%'", with: "-")])
    #expect(end.status == SIGTERM, "\(end)")
    #expect(try stored() == "new")
  }

  @Test func `the program doesn't outlive the tool, and the next one begins`() throws {
    let script = "exec \"$0\" \"$@\" 2>&1"
    let wait = ["--", "sh", "-c", "echo ready >&2; exec sleep 600"]
    let program = try Program(
      "sh", ["-c", script, Program.toolPath, "update"] + item + options + wait)
    try program.waitFor("ready")
    program.send(SIGKILL)
    // The output ends with the last program that has it.
    #expect(try program.finish().status == SIGKILL)
    #expect(try update(["--print"], ["echo", "new"]) == .init(output: "new"))
  }

  /// The signal goes to the tool alone, once the program or both have stopped.
  @Test(arguments: [("$$", "kill -STOP $$"), ("$PPID", "kill -TSTP $PPID; wait")])
  func `a program that has stopped goes on with the tool`(process: String, stop: String) throws {
    let watch = "until grep -q '^State:.T' /proc/\(process)/status; do :; done; echo stopped >&2"
    let script = "exec \"$0\" \"$@\" 2>&1"
    let command = ["sh", "-c", "(\(watch)) & \(stop); echo new"]
    let free = ["-c", Program.free, "sh", "-c", script, Program.toolPath]
    let program = try Program(
      "python3", free + ["update"] + item + options + ["--print", "--"] + command)
    try program.waitFor("stopped")
    program.send(SIGCONT)
    #expect(try program.finish() == .init(output: "\nnew"))
  }

  @Test func `the program gets all variables but the password of etcd's user`() throws {
    let variables = ["ETCDCTL_USER=root:hidden", "ETCDCTL_PASSWORD=hidden", "OTHER=shown"]
    let result = try Program.run(
      "env", variables + [Program.toolPath, "update"] + item + options + ["--print", "--", "env"])
    let lines = result.output.split(separator: "\n")
    #expect(lines.contains("ETCDCTL_USER=root") && lines.contains("OTHER=shown"))
    #expect(!result.output.contains("hidden"))
  }

  @Test func `arguments that make no sense are refused`() throws {
    for more in [["--within", "5m"], ["--if-expired", "--within", "5"], ["--wait", "soon"]] {
      #expect(try update(more, ["echo", "new"]).status == 64)
    }
    #expect(try Program.tool(["update"] + item + options).status == 64)
  }
}
