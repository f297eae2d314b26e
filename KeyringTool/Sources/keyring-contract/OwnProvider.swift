// SPDX-License-Identifier: Apache-2.0

import CProcess
import Foundation
import Keyring
import KeyringStorage
import KeyringTesting
import KeyringToolCommands
import Synchronization

/// A provider in a session of its own, which can be killed and started again with the same files.
final class OwnProvider: Sendable {
  private static let name = "org.freedesktop.secrets"
  /// The group of the processes that the command has started.
  private static let group = Atomic<pid_t>(0)
  /// The process that answers, which may have left the group.
  private static let process = Atomic<pid_t>(0)
  /// Whether the collection stays locked until it's unlocked.
  ///
  /// KeePassXC opens it by itself after it owns its name, and would show a dialog.
  private let staysLocked = Atomic(false)

  private let command: [String]
  private let password: String
  /// The default collection, whose prompts no user sees.
  let storage = SecretServiceStorage(options: .init(promptTimeout: .seconds(10)))

  /// Creates a provider in the session that `Scripts/contract` starts.
  init(_ command: [String]) throws(ToolFailure) {
    let environment = ProcessInfo.processInfo.environment
    guard environment["KEYRING_TEST_START"] == "stopped",
      let password = environment["KEYRING_TEST_PASSWORD"]
    else {
      throw ToolFailure(
        "This session may have a keyring of yours, which would be killed.",
        recoverySuggestion: "Run Scripts/contract, which starts a session without one.",
        status: .misused)
    }
    (self.command, self.password) = (command, password)
    // The processes that the command leaves behind are waited for, too.
    _ = keyring_tool_adopt_orphans()
    for number in [SIGINT, SIGTERM, SIGHUP] {
      signal(number) { number in
        OwnProvider.send(SIGKILL)
        _exit(128 + number)
      }
    }
    signal(SIGPIPE, SIG_IGN)
  }

  // MARK: - Starting it

  /// Starts the provider, and waits until it can be used.
  func start() throws(ToolFailure) {
    let input = Pipe()
    // Otherwise the provider would have this end, too, and wait for the end of its input.
    _ = fcntl(input.fileHandleForWriting.fileDescriptor, F_SETFD, FD_CLOEXEC)
    let provider = try spawn(command, input: input.fileHandleForReading.fileDescriptor, output: 2)
    Self.group.store(provider, ordering: .sequentiallyConsistent)
    // A provider may take a line break for a part of it.
    try? input.fileHandleForWriting.write(contentsOf: Data(password.utf8))
    try? input.fileHandleForWriting.close()
    try waitForName(provider)
    Self.process.store(try owner() ?? 0, ordering: .sequentiallyConsistent)
    try waitForCollection()
  }

  private func waitForName(_ provider: pid_t) throws(ToolFailure) {
    let wait = ["gdbus", "wait", "--session", "--timeout", "60", Self.name]
    let waiting = try spawn(wait, output: 2)
    var status: Int32 = 0
    while true {
      let ended = waitpid(-1, &status, 0)
      if ended == waiting {
        if status == 0 { return }
        break
      }
      // A command may end when the provider runs in the background.
      if ended == provider, status != 0 {
        kill(waiting, SIGKILL)
        break
      }
    }
    throw ToolFailure(
      "The command hasn't started a provider that owns \(Self.name).",
      recoverySuggestion: "Run it by hand in \"Scripts/private-session --start stopped bash\".",
      status: .unreachable)
  }

  /// Asks again until the collection is there, because some providers own their name before.
  private func waitForCollection() throws(ToolFailure) {
    let start = ContinuousClock.now
    repeat {
      if ContinuousClock.now > start + .seconds(5) { staysLocked.store(true, ordering: .relaxed) }
      let isLocked = try? storage.isLocked()
      if isLocked == false { return }
      if isLocked == true, staysLocked.load(ordering: .relaxed) { try? unlock() }
    } while ContinuousClock.now < start + .seconds(30)
    throw ToolFailure(
      "The provider has no default collection that opens without a question or with the password.",
      recoverySuggestion: "Let the command create one.", status: .unreachable)
  }

  /// Unlocks the collection with the password, or as the provider does without one.
  func unlock() throws(SecureStorageError) {
    do {
      try storage.unlock(password: Secret(password))
    } catch {
      try storage.unlock()
    }
  }

  /// The process that owns the name.
  private func owner() throws(ToolFailure) -> pid_t? {
    let output = Pipe()
    let call = try spawn(
      [
        "gdbus", "call", "--session", "--dest", "org.freedesktop.DBus", "--object-path", "/",
        "--method", "org.freedesktop.DBus.GetConnectionUnixProcessID", Self.name,
      ], output: output.fileHandleForWriting.fileDescriptor)
    try? output.fileHandleForWriting.close()
    let answer = try? output.fileHandleForReading.readToEnd()
    waitpid(call, nil, 0)
    // It's "(uint32 1234,)".
    return String(decoding: answer ?? Data(), as: UTF8.self).split(separator: " ").last
      .flatMap { pid_t($0.prefix(while: \.isNumber)) }
  }

  /// Starts a program in a group of its own, and returns the number of its process.
  private func spawn(
    _ words: [String], input: Int32? = nil, output: Int32
  ) throws(ToolFailure) -> pid_t {
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var signals = sigset_t()
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    sigaddset(&signals, SIGPIPE)
    posix_spawnattr_setsigdefault(&attributes, &signals)
    posix_spawnattr_setflags(
      &attributes,
      Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
    var files = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&files)
    defer { posix_spawn_file_actions_destroy(&files) }
    if let input {
      posix_spawn_file_actions_adddup2(&files, input, 0)
    } else {
      posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0)
    }
    posix_spawn_file_actions_adddup2(&files, output, 1)
    var arguments = words.map { strdup($0) } + [nil]
    defer { for argument in arguments { free(argument) } }
    var number: pid_t = 0
    let fault = posix_spawnp(&number, words[0], &files, &attributes, &arguments, environ)
    if fault == 0 { return number }
    throw ToolFailure(
      "\(words[0]) can't be started: \(String(cString: strerror(fault))).",
      recoverySuggestion: "Specify a program that is there.", status: .unreachable)
  }

  // MARK: - Ending it

  private static func send(_ signal: Int32) {
    for number in [
      -group.load(ordering: .sequentiallyConsistent),
      process.load(ordering: .sequentiallyConsistent),
    ]
    where number != 0 {
      kill(number, signal)
    }
  }

  /// Kills the provider at any moment, and waits for nothing.
  func killAtOnce() { Self.send(SIGKILL) }

  /// Ends the provider, and waits until all of its processes have ended.
  func end(_ ending: StorageContract.Ending) {
    let late = DispatchWorkItem { Self.send(SIGKILL) }
    switch ending {
    case .orderly:
      // Some providers write what they have when they lock it.
      try? storage.lock()
      Self.send(SIGTERM)
      DispatchQueue.global().asyncAfter(deadline: .now() + 30, execute: late)
    case .kill: killAtOnce()
    }
    let group = Self.group.load(ordering: .sequentiallyConsistent)
    while waitpid(-group, nil, 0) > 0 {}
    waitpid(Self.process.load(ordering: .sequentiallyConsistent), nil, 0)
    late.cancel()
    Self.group.store(0, ordering: .sequentiallyConsistent)
    Self.process.store(0, ordering: .sequentiallyConsistent)
  }

  /// Ends the provider, and starts it again.
  func restart(after ending: StorageContract.Ending) throws(ToolFailure) {
    end(ending)
    try start()
  }

  /// Starts the provider again if it has crashed, or has left its collection locked.
  func makeUsable() throws(ToolFailure) {
    if (try? storage.isLocked()) != false { try restart(after: .kill) }
  }
}
