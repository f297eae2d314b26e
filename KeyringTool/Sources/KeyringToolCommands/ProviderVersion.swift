// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
public import KeyringStorage

extension StorageDiagnosis {
  /// Adds the version of gnome-keyring, if that is the provider.
  ///
  /// gnome-keyring 42.1 to 51.1 have nothing on the bus that tells it, so this runs the provider's own program with
  /// `--version`. No other program is run.
  public mutating func addProviderVersion() {
    let provider = findings.first { $0.subject == "provider" }
    guard let match = provider?.text.prefixMatch(of: #/gnome-keyring-daemon, process (\d+),/#),
      let process = pid_t(match.1), let version = ProviderVersion.of(process)
    else { return }
    add("version", version)
  }
}

/// The version of gnome-keyring, as its program prints it.
enum ProviderVersion {
  private static let name = "gnome-keyring-daemon"

  /// Returns the version of the program that a process of this user runs.
  ///
  /// - Parameter process: The process.
  /// - Returns: The name and the version, or `nil` if the process runs another program.
  static func of(_ process: pid_t) -> String? {
    var status = stat()
    guard stat("/proc/\(process)", &status) == 0, status.st_uid == geteuid(),
      let program = program(of: process)
    else { return nil }
    defer { close(program) }
    let output = output(
      of: "/proc/self/fd/\(program)", [name, "--version"], until: .now + .seconds(2))
    guard let match = output?.prefixMatch(of: #/([a-z-]+): ([0-9.]+)\n/#), match.1 == name
    else { return nil }
    return "\(name) \(match.2)"
  }

  /// Opens the program of a process.
  private static func program(of process: pid_t) -> Int32? {
    let descriptor = open("/proc/\(process)/exe", O_RDONLY | O_CLOEXEC)
    if descriptor < 0 { return nil }
    // An update may have replaced the file. The descriptor is that of the running program.
    let path = try? FileManager.default.destinationOfSymbolicLink(
      atPath: "/proc/self/fd/\(descriptor)")
    if path?.wholeMatch(of: #/.*/([^/]+?)(?: \(deleted\))?/#)?.1 == name[...] { return descriptor }
    close(descriptor)
    return nil
  }

  /// Runs a program that prints a few words, and ends it at the deadline.
  ///
  /// - Parameters:
  ///   - path: The path of the program.
  ///   - words: The name of the program and its arguments.
  ///   - deadline: The time at which the program is ended.
  /// - Returns: The output, or `nil` if it isn't complete in time.
  static func output(
    of path: String, _ words: [String], until deadline: ContinuousClock.Instant
  ) -> String? {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { return nil }
    // The program needs only its standard output.
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    defer { close(ends[0]) }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
    for descriptor in [STDIN_FILENO, STDERR_FILENO] {
      posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0)
    }
    var arguments = words.map { strdup($0) } + [nil]
    defer { for argument in arguments { free(argument) } }
    var environment: [UnsafeMutablePointer<CChar>?] = [nil]
    var number: pid_t = 0
    let error = posix_spawn(&number, path, &actions, nil, &arguments, &environment)
    close(ends[1])
    if error != 0 { return nil }
    defer {
      // The number isn't free for another program before the second call.
      kill(number, SIGKILL)
      waitpid(number, nil, WNOHANG)
    }
    return text(from: ends[0], until: deadline)
  }

  private static func text(from pipe: Int32, until deadline: ContinuousClock.Instant) -> String? {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 256)
    while bytes.count < 4096 {
      let remaining = max(.zero, deadline - .now) / .milliseconds(1)
      var event = pollfd(fd: pipe, events: Int16(POLLIN), revents: 0)
      guard poll(&event, 1, Int32(remaining)) > 0 else { return nil }
      let count = read(pipe, &buffer, buffer.count)
      if count <= 0 { return count == 0 ? String(decoding: bytes, as: UTF8.self) : nil }
      bytes += buffer[..<count]
    }
    return nil
  }
}
