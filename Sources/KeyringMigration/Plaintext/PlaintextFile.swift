// SPDX-License-Identifier: Apache-2.0

internal import KeyringStorage

/// A file of plaintext values.
struct PlaintextFile: PlaintextStore {
  let file: ReplaceableFile
  /// Whether values can be in other ones.
  var isNested = false
  /// A closure that finds the parts of the file, in their order.
  let parts: @Sendable (Secret) throws(PlaintextFormatError) -> [PlaintextPart]

  var name: String { file.name }

  func values(at paths: [[String]]) throws(SecureStorageError) -> [ExternalValue?] {
    try values(at: paths, in: content(file.read(toReplace: false)))
  }

  func entries() throws(SecureStorageError) -> [PlaintextEntry] {
    try content(file.read(toReplace: false))?.entries() ?? []
  }

  func checkIsRemovable() throws(SecureStorageError) { try file.checkIsReplaceable() }

  func remove(
    _ paths: [[String]], after check: ([ExternalValue?]) throws(SecureStorageError) -> Void
  ) throws(SecureStorageError) {
    let old = try file.read()
    guard let old, let content = try content(old) else { return }
    try check(values(at: paths, in: content))
    let new = try attempt(content.removing(paths))
    if new != old { try file.replace(old, with: new) }
  }

  private func values(
    at paths: [[String]], in content: PlaintextContent?
  ) throws(SecureStorageError) -> [ExternalValue?] {
    try paths.map { (path) throws(SecureStorageError) in
      try attempt(content?.value(at: path))
    }
  }

  private func content(_ text: Secret?) throws(SecureStorageError) -> PlaintextContent? {
    guard let text else { return nil }
    // None of the values would be found in a file in UTF-16.
    guard !text.withUnsafeBytes({ $0.contains(0) }) else {
      throw file.error(
        .undecodable, .read, "The file contains NUL bytes. It may be text in UTF-16.",
        recoverySuggestion: "Save it as UTF-8, and try again.")
    }
    return PlaintextContent(text, try attempt(parts(text)), isNested: isNested)
  }

  private func attempt<Result>(
    _ expression: @autoclosure () throws(PlaintextFormatError) -> Result
  ) throws(SecureStorageError) -> Result {
    try Swift.Result(catching: expression).mapError { file.error($0.code, .read, $0.message) }.get()
  }
}
