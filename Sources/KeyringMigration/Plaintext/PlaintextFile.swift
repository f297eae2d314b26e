// SPDX-License-Identifier: Apache-2.0

internal import KeyringStorage

/// A file of plaintext values.
struct PlaintextFile<Format: PlaintextFormat>: PlaintextStore {
  let file: ReplaceableFile
  let format: Format

  var name: String { "file \(file.path)" }

  func values(at paths: [[String]]) throws(SecureStorageError) -> [ExternalValue?] {
    let values = try values(at: paths, in: file.read())
    if values.contains(where: { $0 != nil }) { try file.checkIsReplaceable() }
    return values
  }

  func remove(
    _ paths: [[String]], after check: ([ExternalValue?]) throws(SecureStorageError) -> Void
  ) throws(SecureStorageError) {
    guard let old = try file.read() else { return }
    try check(values(at: paths, in: old))
    var new = old
    for path in paths {
      new = try attempt(format.removing(path, from: new))
    }
    if new != old { try file.replace(old, with: new) }
  }

  private func values(
    at paths: [[String]], in content: Secret?
  ) throws(SecureStorageError) -> [ExternalValue?] {
    guard let content else { return paths.map { _ in nil } }
    // None of the values would be found in a file in UTF-16.
    guard content.withUnsafeBytes({ !$0.contains(0) }) else {
      throw SecureStorageError(
        .undecodable, operation: .read, backendName: name,
        message: "The file contains NUL bytes. It may be text in UTF-16.",
        recoverySuggestion: "Save it as UTF-8, and run the migration again.")
    }
    return try paths.map { (path) throws(SecureStorageError) in
      try attempt(format.value(at: path, in: content))
    }
  }

  private func attempt<Result>(
    _ expression: @autoclosure () throws(PlaintextFormatError) -> Result
  ) throws(SecureStorageError) -> Result {
    try Swift.Result(catching: expression).mapError { error in
      SecureStorageError(
        error.code, operation: .read, backendName: name, message: error.message,
        recoverySuggestion: "Correct the file, and run the migration again.")
    }.get()
  }
}

/// A format of files with plaintext values.
protocol PlaintextFormat: Sendable {
  /// Returns the value at a path, or `nil` if there is none.
  func value(at path: [String], in content: Secret) throws(PlaintextFormatError) -> ExternalValue?

  /// Returns the content without the value at a path, and otherwise byte for byte the same.
  func removing(_ path: [String], from content: Secret) throws(PlaintextFormatError) -> Secret
}

/// An error in the content of a file, which contains nothing of the content except names.
struct PlaintextFormatError: Error {
  let code: SecureStorageError.Code
  let message: String

  init(_ message: String, code: SecureStorageError.Code = .undecodable) {
    (self.code, self.message) = (code, message)
  }
}
