public import Keyring

/// Conversions of secrets from and to the text of other programs.
public enum SecretText {
  /// Returns the secret in the output of a program.
  ///
  /// - Parameters:
  ///   - bytes: The output of the program.
  ///   - isBinary: Pass `true` to use every byte. Otherwise, one newline at the end is dropped.
  /// - Returns: The secret.
  public static func secret(from bytes: [UInt8], isBinary: Bool) -> Secret {
    let hasNewline = bytes.last == UInt8(ascii: "\n")
    return Secret(bytes: !isBinary && hasNewline ? bytes.dropLast() : bytes[...])
  }

  /// Returns the bytes to write for a secret that was requested.
  ///
  /// - Parameters:
  ///   - secret: The secret.
  ///   - isTerminal: Pass `true` if a person reads the secret, to end it with a newline.
  /// - Returns: The bytes.
  public static func output(_ secret: Secret, toTerminal isTerminal: Bool) -> [UInt8] {
    secret.withUnsafeBytes { Array($0) } + (isTerminal ? [UInt8(ascii: "\n")] : [])
  }
}
