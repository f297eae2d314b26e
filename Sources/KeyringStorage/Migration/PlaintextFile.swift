/// A file of plaintext values.
struct PlaintextFile<Format: PlaintextFormat>: PlaintextStore {
  let file: ReplaceableFile
  let format: Format

  var name: String { "file \(file.path)" }

  func values(at paths: [[String]]) throws(SecureStorageError) -> [PlaintextValue?] {
    let values = try values(at: paths, in: file.read())
    if values.contains(where: { $0 != nil }) { try file.checkIsReplaceable() }
    return values
  }

  func remove(
    _ paths: [[String]], after check: ([PlaintextValue?]) throws(SecureStorageError) -> Void
  ) throws(SecureStorageError) {
    guard let old = try file.read() else { return }
    try check(values(at: paths, in: old))
    var new = old
    for path in paths {
      new = try attempt { () throws(PlaintextFault) in try format.removing(path, from: new) }
    }
    if new != old { try file.replace(old, with: new) }
  }

  private func values(
    at paths: [[String]], in content: Secret?
  ) throws(SecureStorageError) -> [PlaintextValue?] {
    guard let content else { return paths.map { _ in nil } }
    // As UTF-16 it would have none of the values that it is looked through for.
    guard content.withUnsafeBytes({ !$0.contains(0) }) else {
      throw SecureStorageError(
        .undecodable, operation: .read, backend: name,
        message: "The file has NUL bytes, as text in UTF-16 has them.",
        advice: "Save it as UTF-8, and run the migration again.")
    }
    var values: [PlaintextValue?] = []
    for path in paths {
      values.append(
        try attempt { () throws(PlaintextFault) in try format.value(at: path, in: content) })
    }
    return values
  }

  private func attempt<Result>(
    _ body: () throws(PlaintextFault) -> Result
  ) throws(SecureStorageError) -> Result {
    do throws(PlaintextFault) {
      return try body()
    } catch {
      throw SecureStorageError(
        error.code, operation: .read, backend: name, message: error.message,
        advice: "Correct the file, and run the migration again.")
    }
  }
}

/// How a file says what its values are.
protocol PlaintextFormat: Sendable {
  /// Finds the value at a path; `nil` when there is none.
  func value(at path: [String], in content: Secret) throws(PlaintextFault) -> PlaintextValue?

  /// The content without the value at a path, and otherwise byte for byte the same.
  func removing(_ path: [String], from content: Secret) throws(PlaintextFault) -> Secret
}

/// What is wrong with the content of a file; without any of it but names.
struct PlaintextFault: Error {
  let code: SecureStorageError.Code
  let message: String

  init(_ message: String, code: SecureStorageError.Code = .undecodable) {
    (self.code, self.message) = (code, message)
  }
}

extension Secret {
  /// Some of the bytes.
  subscript(range: Range<Int>) -> Secret {
    withUnsafeBytes { Secret(copying: UnsafeRawBufferPointer(rebasing: $0[range])) }
  }

  /// The bytes without some of them.
  func removing(_ range: Range<Int>) -> Secret {
    withUnsafeBytes { bytes in
      Secret(capacity: count - range.count) { room in
        room.copyBytes(from: bytes[..<range.lowerBound])
        UnsafeMutableRawBufferPointer(rebasing: room[range.lowerBound...])
          .copyBytes(from: bytes[range.upperBound...])
        return room.count
      }
    }
  }
}
