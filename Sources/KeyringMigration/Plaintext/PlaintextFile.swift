// SPDX-License-Identifier: Apache-2.0

internal import KeyringStorage

/// A file of plaintext values.
struct PlaintextFile<Format: PlaintextFormat>: PlaintextStore {
  let file: ReplaceableFile
  let format: Format

  var name: String { file.name }

  func values(at paths: [[String]]) throws(SecureStorageError) -> [ExternalValue?] {
    try values(at: paths, in: file.read(toReplace: false))
  }

  func entries() throws(SecureStorageError) -> [PlaintextEntry] {
    guard let content = try checked(file.read(toReplace: false)) else { return [] }
    var entries: [PlaintextEntry] = []
    for name in try attempt(format.names(in: content)) {
      if let problem = name.problem {
        entries.append(PlaintextEntry(name, unusable: problem, in: content))
      } else if let value = try attempt(format.part(at: name.path, in: content)?.value) {
        entries.append(PlaintextEntry(name, value, in: content))
      }
    }
    return entries
  }

  func checkIsRemovable() throws(SecureStorageError) { try file.checkIsReplaceable() }

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
    guard let content = try checked(content) else { return paths.map { _ in nil } }
    return try paths.map { (path) throws(SecureStorageError) in
      try attempt(format.part(at: path, in: content)?.value)
    }
  }

  private func checked(_ content: Secret?) throws(SecureStorageError) -> Secret? {
    // None of the values would be found in a file in UTF-16.
    guard content?.withUnsafeBytes({ $0.contains(0) }) != true else {
      throw file.error(
        .undecodable, .read, "The file contains NUL bytes. It may be text in UTF-16.",
        recoverySuggestion: "Save it as UTF-8, and run the migration again.")
    }
    return content
  }

  private func attempt<Result>(
    _ expression: @autoclosure () throws(PlaintextFormatError) -> Result
  ) throws(SecureStorageError) -> Result {
    try Swift.Result(catching: expression).mapError { file.error($0.code, .read, $0.message) }.get()
  }
}
