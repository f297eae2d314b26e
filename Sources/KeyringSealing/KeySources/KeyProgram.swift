// SPDX-License-Identifier: Apache-2.0

#if Sealing && os(Linux)
internal import KeyringStorage

/// Another program that prints a key.
struct KeyProgram: Sendable {
  /// The largest output that is read, in bytes.
  static let largest = 64 << 10

  /// The name or path of the program, and its arguments.
  let words: [String]
  /// The input of the program, or `nil` for the input of this process, such as a terminal.
  var input: Secret?
  /// `true` for a program whose messages become a part of an error.
  ///
  /// The messages of any other one go to standard error, where the user can see questions.
  var keepsMessages = false

  /// The end of a program.
  struct End: Sendable {
    let output: Secret
    let messages: String
    /// The exit status, or 128 and the number of the signal.
    let status: Int32
  }
}
#endif
