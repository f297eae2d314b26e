// SPDX-License-Identifier: Apache-2.0

#if EncryptedFile && os(Linux)
import Foundation
import KeyringStorage
import KeyringTesting
import TestPrograms
import Testing

@testable import KeyringFile
@testable import KeyringSealing

/// Keys and passphrases that a command prints.
@Suite struct KeyProgramTests {
  private let directory = TemporaryDirectory()

  private func storage(_ key: KeySource) -> EncryptedFileStorage {
    directory.storage(key: key)
  }

  private func shell(_ script: String) -> KeySource { .command(["sh", "-c", script]) }

  @Test func `a command prints the key`() async throws {
    try directory.write([UInt8](0..<32), "printed")
    let source = KeySource.command(["cat", directory.path("printed")])
    try await storage(source).setPassword("s3cret", for: .first)
    #expect(try await storage(source).password(for: .first) == "s3cret")
    // The same bytes, and all of them
    let same = KeySource.key(Secret(bytes: [UInt8](0..<32)))
    #expect(try await storage(same).password(for: .first) == "s3cret")
    try directory.write([UInt8](0..<33), "printed")
    #expect(try code { _ = try storage(source).password(for: .first) } == .wrongKey)
    try directory.write([UInt8](0..<31), "printed")
    #expect(try code { _ = try storage(source).password(for: .first) } == .invalidArgument)
  }

  @Test func `a command prints the passphrase without the line break`() throws {
    try storage(.cheap("pass phrase ")).setPassword("s3cret", for: .first)
    for text in ["pass phrase ", "pass phrase \\n"] {
      let source = KeySource.passphrase(command: ["printf", text])
      #expect(try storage(source).password(for: .first) == "s3cret")
    }
    let source = KeySource.passphrase(command: ["printf", "pass phrase \\n\\n"])
    #expect(try code { _ = try storage(source).password(for: .first) } == .wrongKey)
  }

  /// The program has a group that its caller, the test, doesn't have.
  @Test(.enabled(if: geteuid() == 0, "only root can give a program another group"))
  func `the caller of a program with more rights chooses no program, credential or home`()
    throws
  {
    let programs = URL(fileURLWithPath: directory.path("bin"))
    let credentials = URL(fileURLWithPath: directory.path("credentials"))
    for url in [programs, credentials] {
      try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
    }
    try directory.write(Array("of the caller".utf8), "credentials/account")
    let script = "#!/bin/sh\ntouch '\(directory.path("was run"))'\nexit 1\n"
    try directory.write(Array(script.utf8), "bin/systemd-creds")
    try #require(chmod(programs.path + "/systemd-creds", 0o755) == 0)
    try FileManager.default.copyItem(atPath: Program.workerPath, toPath: directory.path("worker"))
    func worker(_ arguments: String...) throws -> String {
      let program = try Program(
        directory.path("worker"), arguments,
        environment: [
          "PATH": "\(programs.path):/usr/bin:/bin", "CREDENTIALS_DIRECTORY": credentials.path,
          "HOME": directory.path, "XDG_STATE_HOME": "",
        ], complaints: .nullDevice)
      return String(decoding: try program.finish().output, as: UTF8.self)
    }
    let storage = "tpm:" + directory.path("secrets")
    _ = try worker("set", storage, "service", "s3cret")
    #expect(try directory.names().contains("was run"))
    #expect(try worker("get", "credentials", "service").hasPrefix("of the caller"))
    #expect(try worker("remember").hasPrefix(directory.path))

    try directory.remove("was run")
    try #require(chown(directory.path("worker"), 0, 65534) == 0)
    try #require(chmod(directory.path("worker"), 0o2755) == 0)
    _ = try worker("set", storage, "service", "s3cret")
    #expect(try !directory.names().contains("was run"))
    let answer = try worker("get", "credentials", "service")
    #expect(answer.hasPrefix("error noStorage A program with more rights"), "\(answer)")
    #expect(try worker("remember").hasPrefix("/root/.local/state/"))
  }

  @Test func `a command that fails gives no key`() throws {
    let key = "head -c 32 /dev/zero"
    try storage(shell(key)).setPassword("s3cret", for: .first)
    for (command, expected) in [
      ("\(key); exit 3", "status 3"), ("\(key); kill -KILL $$", "status 137"),
    ] {
      let error = expectError(.keyNotFound) { try storage(shell(command)).password(for: .first) }
      #expect(error?.message.contains(expected) == true)
    }
    let missing = expectError(.other) {
      try storage(.command(["/nonexistent/program"])).password(for: .first)
    }
    #expect(missing?.underlying?.code == Int(ENOENT))
    #expect(try code { _ = try storage(.command([])).password(for: .first) } == .other)
    let endless = expectError(.other) { try storage(.command(["yes"])).password(for: .first) }
    #expect(endless?.underlying?.code == Int(EFBIG))
  }

  @Test func `a diagnosis runs no command`() throws {
    let source = shell("touch \(directory.path("ran")); head -c 32 /dev/zero")
    try storage(shell("head -c 32 /dev/zero")).setPassword("s3cret", for: .first)
    #expect(storage(source).diagnose().failure == nil)
    #expect(try !directory.names().contains("ran"))
    _ = try storage(source).password(for: .first)
    #expect(try directory.names().contains("ran"))
  }

  @Test func `a cancelled task ends the command`() async throws {
    try await storage(shell("head -c 32 /dev/zero")).setPassword("s3cret", for: .first)
    let (pipe, marker) = (directory.path("pipe"), directory.path("started"))
    try #require(mkfifo(pipe, 0o600) == 0)
    // A program of the command waits for a writer that doesn't come, and keeps the output open.
    let storage = storage(
      shell("cat \(pipe) & echo $$ > \(marker).new; mv \(marker).new \(marker); wait"))
    let task = Task { try await storage.password(for: .first) }
    #expect(await waitUntil { access(marker, F_OK) == 0 })
    let process = try #require(
      pid_t(String(decoding: directory.bytes("started"), as: UTF8.self).dropLast()))
    task.cancel()
    await expectError(.canceled) { try await task.value }
    #expect(kill(process, 0) != 0 && errno == ESRCH, "the command still runs")
    // Lets the other program end.
    close(open(pipe, O_WRONLY | O_NONBLOCK | O_CLOEXEC))
  }

  @Test(.timeLimit(.minutes(1)))
  func `a cancelled task ends a command that ignores the signal`() async throws {
    try await storage(shell("head -c 32 /dev/zero")).setPassword("s3cret", for: .first)
    let (pipe, marker) = (directory.path("pipe"), directory.path("started"))
    try #require(mkfifo(pipe, 0o600) == 0)
    let storage = storage(shell("trap '' TERM; : > \(marker); exec cat \(pipe)"))
    let task = Task { try await storage.password(for: .first) }
    #expect(await waitUntil { access(marker, F_OK) == 0 })
    task.cancel()
    await expectError(.canceled) { try await task.value }
  }

  @Test func `a command whose end isn't known gives no key`() async {
    await #expect(processExitsWith: .success) {
      let directory = TemporaryDirectory()
      signal(SIGCHLD, SIG_IGN)
      let storage = directory.storage(key: .command(["sh", "-c", "head -c 32 /dev/zero; exit 3"]))
      let error = expectError(.other) { try storage.setPassword("lost", for: .first) }
      #expect(error?.underlying?.code == Int(ECHILD))
      let names = try directory.names()
      #expect(!names.contains("secrets"))
    }
  }

  @Test func `a command ignores and blocks no signals of its own`() async {
    await #expect(processExitsWith: .success) {
      let directory = TemporaryDirectory()
      for number in [SIGPIPE, SIGTERM, SIGINT, SIGHUP, SIGQUIT] { signal(number, SIG_IGN) }
      var all = sigset_t()
      sigfillset(&all)
      pthread_sigmask(SIG_SETMASK, &all, nil)
      // The bits of the five signals
      let script = """
        blocked=$(sed -n 's/SigBlk:.//p' /proc/self/status)
        ignored=$(sed -n 's/SigIgn:.//p' /proc/self/status)
        [ $((0x$blocked & 0x5007 | 0x$ignored & 0x5007)) = 0 ] && head -c 32 /dev/zero
        """
      let storage = directory.storage(key: .command(["sh", "-c", script]))
      try storage.setPassword("s3cret", for: .first)
    }
  }

  @Test func `a program gets no input that could block`() async throws {
    let request = FileLocation(directory.path("secrets")).keyRequest(.opening)
    let program = KeyProgram(
      words: ["cat"], input: Secret(bytes: [UInt8](repeating: 7, count: 4097)))
    let error = await #expect(throws: SecureStorageError.self) {
      try await program.run(for: request)
    }
    #expect(error?.underlying?.code == Int(EFBIG))
  }

  @Test func `the first messages of a command are kept on request`() async throws {
    let request = FileLocation(directory.path("secrets")).keyRequest(.opening)
    let script = "cat; echo one >&2; yes message | head -c 200000 >&2"
    let program = KeyProgram(
      words: ["sh", "-c", script], input: Secret("input"), keepsMessages: true)
    let end = try await program.run(for: request)
    #expect(end.output.text == "input" && end.status == 0)
    #expect(end.messages.hasPrefix("one\nmessage") && end.messages.utf8.count < 20_000)
  }
}
#endif
