// SPDX-License-Identifier: Apache-2.0

internal import KeyringStorage

/// A file of plaintext values.
struct PlaintextFile<Format: PlaintextFormat>: PlaintextStore {
  let file: ReplaceableFile
  let format: Format

  var name: String { file.name }

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
      let part = try attempt(format.part(at: path, in: new))
      if let part { new = new.removing(part.range) }
    }
    if new != old { try file.replace(old, with: new) }
  }

  private func values(
    at paths: [[String]], in content: Secret?
  ) throws(SecureStorageError) -> [ExternalValue?] {
    guard let content else { return paths.map { _ in nil } }
    // None of the values would be found in a file in UTF-16.
    guard content.withUnsafeBytes({ !$0.contains(0) }) else {
      throw file.error(
        .undecodable, .read, "The file contains NUL bytes. It may be text in UTF-16.",
        recoverySuggestion: "Save it as UTF-8, and run the migration again.")
    }
    return try paths.map { (path) throws(SecureStorageError) in
      try attempt(format.part(at: path, in: content)?.value)
    }
  }

  private func attempt<Result>(
    _ expression: @autoclosure () throws(PlaintextFormatError) -> Result
  ) throws(SecureStorageError) -> Result {
    try Swift.Result(catching: expression).mapError { file.error($0.code, .read, $0.message) }.get()
  }
}
