public import Keyring

/// Secrets as they come from and go to other programs.
public enum SecretText {
  /// The secret in what a program wrote.
  ///
  /// - Parameters:
  ///   - bytes: What it wrote.
  ///   - isBinary: Whether every byte counts; otherwise one newline at the end does not.
  /// - Returns: The secret.
  public static func secret(from bytes: [UInt8], isBinary: Bool) -> Secret {
    let hasNewline = bytes.last == UInt8(ascii: "\n")
    return Secret(bytes: !isBinary && hasNewline ? bytes.dropLast() : bytes[...])
  }

  /// What to write for somebody who asked for a secret.
  ///
  /// - Parameters:
  ///   - secret: The secret.
  ///   - isTerminal: Whether it goes to a person, who wants a line of its own for it.
  /// - Returns: The bytes.
  public static func output(_ secret: Secret, toTerminal isTerminal: Bool) -> [UInt8] {
    secret.withUnsafeBytes { Array($0) } + (isTerminal ? [UInt8(ascii: "\n")] : [])
  }
}
