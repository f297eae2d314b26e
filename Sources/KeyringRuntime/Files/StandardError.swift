// SPDX-License-Identifier: Apache-2.0

internal import KeyringPlatform

/// The process's standard error.
package enum StandardError {
  /// Writes a text in one call, so that lines of several threads don't mix.
  ///
  /// - Parameter text: The text, including the end of its last line.
  package static func write(_ text: String) {
    var text = text
    text.withUTF8 { bytes in
      // If standard error is closed, the error can't be reported.
      _ = unistdWrite(STDERR_FILENO, bytes.baseAddress, bytes.count)
    }
  }
}
