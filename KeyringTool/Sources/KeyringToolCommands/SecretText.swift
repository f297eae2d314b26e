// SPDX-License-Identifier: Apache-2.0

public import Keyring

/// Conversions of secrets from and to the text of other programs.
public enum SecretText {
  /// Returns the secret in the output of a program.
  ///
  /// - Parameters:
  ///   - output: The output of the program.
  ///   - isBinary: Pass `true` to use every byte. Otherwise, one line end at the end is dropped, and the mark
  ///     that some editors of Windows put in front of UTF-8.
  /// - Returns: The secret.
  public static func secret(from output: Secret, isBinary: Bool) -> Secret {
    if isBinary { return output }
    return output.withUnsafeBytes { bytes in
      var text = bytes[...]
      if text.starts(with: [0xEF, 0xBB, 0xBF]) { text = text.dropFirst(3) }
      if text.last == UInt8(ascii: "\n") {
        text = text.dropLast()
        if text.last == UInt8(ascii: "\r") { text = text.dropLast() }
      }
      return Secret(copying: UnsafeRawBufferPointer(rebasing: text))
    }
  }

  /// Returns a random password of letters and digits.
  ///
  /// - Parameter length: The number of characters.
  /// - Returns: The password.
  public static func generated(length: Int) -> Secret {
    let characters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)
    return Secret(
      bytes: (0..<length).lazy.map { _ in characters[Int.random(in: characters.indices)] })
  }
}
