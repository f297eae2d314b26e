// SPDX-License-Identifier: Apache-2.0

internal import KeyringCore
internal import KeyringPlatform

/// A small file of text that a program keeps from one run to the next.
///
/// At every moment there is either no file or a complete one.
package struct StateFile {
  /// The size limit in bytes.
  ///
  /// This library writes shorter files.
  private static let largest = 4096

  private let path: String

  /// Creates a reference to a file, present or not.
  ///
  /// - Parameter path: The path of the file.
  package init(path: String) { self.path = path }

  /// Returns the text of the file, or `nil` for a missing one.
  ///
  /// The text of a file that is too long, or invalid UTF-8, is empty.
  ///
  /// - Returns: The text.
  /// - Throws: The failure to read the file.
  package func text() throws(FileFailure) -> String? {
    do throws(FileFailure) {
      guard let file = try OpenFile.reading(path) else { return nil }
      return try file.secret(atMost: Self.largest).text ?? ""
    } catch {
      if error.hasNoDirectory { return nil }
      if error.kind != .system { return "" }
      throw error
    }
  }

  /// Writes the file, and creates a missing directory.
  ///
  /// - Parameters:
  ///   - text: The text.
  ///   - replacing: `true` to replace a file that is there.
  /// - Returns: `true` if the file was written, `false` if there is one that must stay.
  /// - Throws: The failure to write the file.
  package func write(_ text: String, replacing: Bool) throws(FileFailure) -> Bool {
    let directory = Directory(of: path)
    try directory.make()
    let result = Array(text.utf8).withUnsafeBytes { content in
      Result { () throws(FileFailure) in try FileReplacement(of: path, with: content) }
    }
    let replacement = try result.get()
    if replacing {
      try replacement.commit()
    } else if try !replacement.commitUnlessThere() {
      return false
    }
    try directory.sync()
    return true
  }

  /// Removes the file, if any.
  ///
  /// - Throws: The failure to remove the file.
  package func remove() throws(FileFailure) {
    if unlink(path) == 0 { return try Directory(of: path).sync() }
    guard errno == ENOENT || errno == ENOTDIR else { throw FileFailure("can't be removed") }
  }

  /// Returns the obstacle to writing the file that is known before an attempt.
  ///
  /// - Returns: The reason.
  package func obstacle() -> FileFailure? {
    if let obstacle = Directory(of: path).obstacle { return obstacle }
    let directory = Directory(of: path).nearestExisting
    return access(directory.path, W_OK | X_OK) == 0 ? nil : FileFailure("can't be written")
  }
}
