// SPDX-License-Identifier: Apache-2.0

import Keyring
import KeyringStorage
import KeyringToolCommands

/// The input and output of secrets.
enum Terminal {
  /// Makes reads and writes of closed standard streams fail.
  ///
  /// Otherwise, the next file or socket that a library opens gets the number of the stream, and a secret would be
  /// written there.
  static func reserveClosedStreams() {
    // In this order, the number of each new descriptor is that of the stream.
    for (stream, access) in [
      (STDIN_FILENO, O_WRONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_RDONLY),
    ] where fcntl(stream, F_GETFD) < 0 {
      _ = open("/dev/null", access | O_CLOEXEC)
    }
  }

  /// Reads a secret that a program pipes in, or that the user types twice without echo.
  static func readSecret(isBinary: Bool) throws -> Secret {
    if !isInput {
      // A secret may have a mark at the start and a line end that aren't a part of it.
      let limit = ItemLimits.secretBytes + 5
      return SecretText.secret(from: try readInput(upTo: limit), isBinary: isBinary)
    }
    if isBinary {
      throw ToolFailure(
        "A terminal can't pass on every byte.",
        recoverySuggestion: "Pipe the secret in, or leave out --binary.", status: .misused)
    }
    let secret = try typedSecret(atPrompt: "Secret: ")
    guard try typedSecret(atPrompt: "Again: ") == secret else {
      throw ToolFailure(
        "The two secrets differ.", recoverySuggestion: "Nothing was stored. Try again.")
    }
    return secret
  }

  /// Asks for a line of a new secret.
  private static func typedSecret(atPrompt prompt: String) throws -> Secret {
    do throws(SecureStorageError) {
      return try Secret.typed(atPrompt: prompt)
    } catch {
      switch error.code {
      case .userCanceled:
        throw ToolFailure(
          error.message, recoverySuggestion: "Nothing was stored.", status: .canceled)
      case .invalidArgument:
        throw ToolFailure(error.message, recoverySuggestion: "Pipe the secret in.")
      default: throw error
      }
    }
  }

  /// Reads a password that a program pipes in.
  static func readPassword() throws -> Secret {
    if isInput {
      throw ToolFailure(
        "Standard input is a terminal, which would show the password.",
        recoverySuggestion: "Pipe the password in, or leave out --password-stdin.", status: .misused
      )
    }
    let password = SecretText.secret(from: try readInput(upTo: 1 << 16), isBinary: false)
    if password.count > 0 { return password }
    throw ToolFailure(
      "The password is empty.", recoverySuggestion: "Check the program that pipes it in.")
  }

  /// Whether standard input is a terminal.
  static var isInput: Bool { isatty(STDIN_FILENO) != 0 }

  /// Whether programs that this one uses can show windows.
  static var mayShowWindows: Bool { getenv("DISPLAY") != nil || getenv("WAYLAND_DISPLAY") != nil }

  /// Writes a line to standard error, if it's a terminal.
  static func tell(_ message: String) { if isatty(STDERR_FILENO) != 0 { complain(message) } }

  /// Whether this program was started with an ignored SIGPIPE, which GLib ignores later.
  static let ignoresPipes = ChildProcess.isIgnored(SIGPIPE)

  /// Whether standard output is a terminal.
  static var isOutput: Bool { isatty(STDOUT_FILENO) != 0 }

  /// Writes a secret that was requested.
  static func show(_ secret: Secret) throws {
    try write(secret)
    if isOutput { try print([""]) }
  }

  /// Writes bytes that may contain a secret to standard output.
  static func write(_ bytes: Secret) throws {
    try bytes.withUnsafeBytes { try write($0, to: STDOUT_FILENO) }
  }

  /// Writes lines to standard output, or nothing at all if there are none.
  static func print(_ lines: [String], separator: String = "\n") throws {
    if lines.isEmpty { return }
    try write(Array((lines.joined(separator: separator) + "\n").utf8), to: STDOUT_FILENO)
  }

  /// Writes a line to standard error.
  ///
  /// If that fails too, there's no other place to report it.
  static func complain(_ message: String) {
    try? write(Array("keyring-tool: \(message)\n".utf8), to: STDERR_FILENO)
  }

  /// Writes all the bytes or throws, because a partial secret with exit status 0 would look complete.
  ///
  /// - Parameters:
  ///   - bytes: The bytes.
  ///   - descriptor: The file, pipe or terminal.
  ///   - endsWithReader: Whether this program ends if nobody reads its output any more.
  /// - Throws: ``ToolFailure`` if they can't be written.
  static func write(
    _ bytes: UnsafeRawBufferPointer, to descriptor: Int32, endsWithReader: Bool = true
  ) throws {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = systemWrite(
        descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
      if count < 0, errno == EINTR { continue }
      if count < 0, errno == EPIPE, endsWithReader, !ignoresPipes { endLikeOthers() }
      if count < 0, errno == EAGAIN {
        var place = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        poll(&place, 1, -1)
        continue
      }
      guard count > 0 else {
        throw ToolFailure(
          "The output can't be written.",
          recoverySuggestion: "Check the file or program that it goes to.")
      }
      rest = rest.dropFirst(count)
    }
  }

  /// Ends the program with SIGPIPE, which the thread may block.
  private static func endLikeOthers() {
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGPIPE)
    pthread_sigmask(SIG_UNBLOCK, &signals, nil)
    ChildProcess.end(by: SIGPIPE)
  }

  static func write(_ bytes: [UInt8], to descriptor: Int32) throws {
    try bytes.withUnsafeBytes { try write($0, to: descriptor) }
  }

  /// Reads standard input, and leaves no copy of it in memory.
  ///
  /// - Parameters:
  ///   - limit: The largest number of bytes.
  ///   - endsAtEmptyLine: Pass `true` to read nothing after an empty line, because nothing might ever come.
  /// - Returns: The bytes.
  /// - Throws: ``ToolFailure`` if there are more bytes, or if they can't be read.
  static func readInput(upTo limit: Int, endsAtEmptyLine: Bool = false) throws -> Secret {
    // The system provides memory only for what is read.
    let room = UnsafeMutableRawBufferPointer.allocate(byteCount: limit + 1, alignment: 1)
    var count = 0
    defer {
      UnsafeMutableRawBufferPointer(rebasing: room[..<count]).wipe()
      room.deallocate()
    }
    while true {
      let added = read(STDIN_FILENO, room.baseAddress.map { $0 + count }, room.count - count)
      if added < 0, errno == EINTR { continue }
      guard added >= 0 else {
        throw ToolFailure(
          "Standard input can't be read.",
          recoverySuggestion: "Check the file or program that it comes from.")
      }
      // The end of the line before may have come earlier.
      let new = UnsafeRawBufferPointer(rebasing: room[max(0, count - 1)..<(count + added)])
      count += added
      guard count <= limit else {
        throw ToolFailure(
          "Standard input has more than \(limit) bytes.",
          recoverySuggestion: "Check the file or program that it comes from.")
      }
      if added == 0 || endsAtEmptyLine && hasEmptyLine(new, isStart: count == added) {
        return Secret(copying: UnsafeRawBufferPointer(rebasing: room[..<count]))
      }
    }
  }

  /// Returns `true` if there are two line ends in a row, or one at the start.
  private static func hasEmptyLine(_ bytes: UnsafeRawBufferPointer, isStart: Bool) -> Bool {
    let end = UInt8(ascii: "\n")
    return isStart && bytes.first == end
      || zip(bytes, bytes.dropFirst()).contains { $0 == (end, end) }
  }
}

/// Calls the C library's function, whose name the type above also uses.
private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
  write(descriptor, bytes, count)
}
