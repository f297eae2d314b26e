// SPDX-License-Identifier: Apache-2.0

import Keyring
import KeyringToolCommands

#if canImport(Musl)
import Musl
#else
import Glibc
#endif

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
      return SecretText.secret(from: try readStandardInput(), isBinary: isBinary)
    }
    if isBinary {
      throw ToolFailure(
        "A terminal can't pass on every byte.",
        recoverySuggestion: "Pipe the secret in, or leave out --binary.", status: .misused)
    }
    let secret = try Secret.typed(atPrompt: "Secret: ")
    guard try Secret.typed(atPrompt: "Again: ") == secret else {
      throw ToolFailure(
        "The two secrets differ.", recoverySuggestion: "Nothing was stored. Try again.")
    }
    return secret
  }

  /// Reads a password that a program pipes in, and leaves no copy of it in memory.
  static func readPassword() throws -> Secret {
    if isInput {
      throw ToolFailure(
        "Standard input is a terminal, which would show the password.",
        recoverySuggestion: "Pipe the password in, or leave out --password-stdin.", status: .misused
      )
    }
    return try withUnsafeTemporaryAllocation(byteCount: 1 << 16, alignment: 1) { buffer in
      defer { if let start = buffer.baseAddress { explicit_bzero(start, buffer.count) } }
      var count = 0
      while count < buffer.count {
        let added = read(STDIN_FILENO, buffer.baseAddress.map { $0 + count }, buffer.count - count)
        if added < 0, errno == EINTR { continue }
        guard added >= 0 else {
          throw ToolFailure(
            "Standard input can't be read.",
            recoverySuggestion: "Check the file or program that it comes from.")
        }
        if added == 0 { break }
        count += added
      }
      if count > 0, buffer[count - 1] == UInt8(ascii: "\n") {
        count -= 1
        if count > 0, buffer[count - 1] == UInt8(ascii: "\r") { count -= 1 }
      }
      guard count > 0, count < buffer.count - 2 else {
        throw ToolFailure(
          count == 0 ? "The password is empty." : "The password is too long.",
          recoverySuggestion: "Check the program that pipes it in.")
      }
      return Secret(copying: UnsafeRawBufferPointer(rebasing: buffer[..<count]))
    }
  }

  /// Indicates whether standard input is a terminal.
  static var isInput: Bool { isatty(STDIN_FILENO) != 0 }

  /// Indicates whether programs that this one uses can show windows.
  static var mayShowWindows: Bool { getenv("DISPLAY") != nil || getenv("WAYLAND_DISPLAY") != nil }

  /// Indicates whether standard output is a terminal.
  static var isOutput: Bool { isatty(STDOUT_FILENO) != 0 }

  /// Writes a secret that was requested.
  static func write(_ secret: Secret) throws {
    try write(SecretText.output(secret, toTerminal: isOutput), to: STDOUT_FILENO)
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

  /// Writes bytes to standard output.
  static func write(_ bytes: [UInt8]) throws { try write(bytes, to: STDOUT_FILENO) }

  /// Writes all the bytes or throws, because a partial secret with exit status 0 would look complete.
  static func write(_ bytes: [UInt8], to descriptor: Int32) throws {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { systemWrite(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else {
        throw ToolFailure(
          "The output can't be written.",
          recoverySuggestion: "Check the file or program that it goes to.")
      }
      rest = rest.dropFirst(count)
    }
  }

  /// The bytes of standard input, which are read when they're needed.
  static var input: AnyIterator<UInt8> { AnyIterator { UInt8(exactly: getchar()) } }

  static func readStandardInput() throws -> [UInt8] {
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = read(STDIN_FILENO, &chunk, chunk.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else {
        throw ToolFailure(
          "Standard input can't be read.",
          recoverySuggestion: "Check the file or program that it comes from.")
      }
      if count == 0 { return bytes }
      bytes += chunk.prefix(count)
    }
  }
}

/// Calls the C library's function, whose name the type above also uses.
private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
  write(descriptor, bytes, count)
}
