import ArgumentParser
import Keyring
import KeyringToolCommands

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Where secrets come from and go to.
enum Terminal {
  /// Reads a secret: what a program pipes in, or what a person types twice without echo.
  static func readSecret(isBinary: Bool) throws -> Secret {
    if isatty(STDIN_FILENO) == 0 {
      return SecretText.secret(from: try readStandardInput(), isBinary: isBinary)
    }
    let secret = try ask("Secret: ")
    guard try ask("Again: ") == secret else {
      throw ValidationError("The two secrets are not the same.")
    }
    return secret
  }

  /// Writes a secret that was asked for.
  static func write(_ secret: Secret) {
    let bytes = SecretText.output(secret, toTerminal: isatty(STDOUT_FILENO) != 0)
    writeAll(bytes, to: STDOUT_FILENO)
  }

  /// Writes a line to standard error.
  static func complain(_ message: String) {
    writeAll(Array("keyring-tool: \(message)\n".utf8), to: STDERR_FILENO)
  }

  /// The C library turns off echo, and with it the keys that interrupt, so that nothing keeps it from
  /// turning both on again.
  private static func ask(_ prompt: String) throws -> Secret {
    guard let line = getpass(prompt) else { throw ValidationError("There is no terminal.") }
    let count = strlen(line)
    defer { explicit_bzero(line, count) }
    return Secret(copying: UnsafeRawBufferPointer(start: line, count: count))
  }

  private static func readStandardInput() throws -> [UInt8] {
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = read(STDIN_FILENO, &chunk, chunk.count)
      if count < 0 { throw ValidationError("Standard input cannot be read.") }
      if count == 0 { return bytes }
      bytes += chunk.prefix(count)
    }
  }

  private static func writeAll(_ bytes: [UInt8], to descriptor: Int32) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { sysWrite(descriptor, $0.baseAddress, $0.count) }
      if count <= 0 { return }
      rest = rest.dropFirst(count)
    }
  }
}

private func sysWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
  write(descriptor, bytes, count)
}
