// SPDX-License-Identifier: Apache-2.0

internal import KeyringPlatform
internal import KeyringStorage

/// Plaintext values that the app reads and removes itself.
///
/// The errors of the app's closures aren't passed on, because they could quote a secret.
struct PlaintextValues: PlaintextStore {
  let read: @Sendable (String) throws -> Any?
  let removeNames: @Sendable ([String]) throws -> Void

  var name: String { "PlaintextSource.values" }

  func values(at paths: [[String]]) throws(SecureStorageError) -> [ExternalValue?] {
    try paths.map(value)
  }

  func entries() throws(SecureStorageError) -> [PlaintextEntry] {
    throw failure(.invalidArgument, .read, "The names of an app's values aren't known.")
  }

  func checkIsRemovable() {}

  func remove(
    _ paths: [[String]], after check: ([ExternalValue?]) throws(SecureStorageError) -> Void
  ) throws(SecureStorageError) {
    try check(values(at: paths))
    do {
      try removeNames(paths.compactMap(\.first))
    } catch {
      throw failure(.other, .remove, "The app could not remove the values.")
    }
    guard try values(at: paths).allSatisfy({ $0 == nil }) else {
      throw failure(
        .other, .remove, "Some of the values are still there after the app removed them.")
    }
  }

  private func value(_ path: [String]) throws(SecureStorageError) -> ExternalValue? {
    guard let name = path.first, path.count == 1 else {
      throw failure(.invalidArgument, .read, "The path of an app's value must have one name.")
    }
    let value: Any?
    do { value = try read(name) } catch {
      throw failure(.other, .read, "The app could not read the value \"\(name)\".")
    }
    guard let value, !AnyEncodable(value: value).isNull else { return nil }
    if let found = ExternalValue(value) { return found }
    throw failure(.undecodable, .read, "The value \"\(name)\" can't be encoded as JSON.")
  }
}

extension ExternalValue {
  /// Converts a value of a dictionary such as the user defaults, or returns `nil` if it can't be encoded.
  fileprivate init?(_ value: Any) {
    switch value {
    case let text as String: self = .text(Secret(text))
    case let data as Data: self = .bytes(Secret(bytes: data))
    // An empty array of any type can be cast to this one.
    case let bytes as [UInt8] where type(of: value) == [UInt8].self:
      self = .bytes(Secret(bytes: bytes))
    default:
      // Keys are sorted, so that the same value gives the same bytes when it's read again.
      let encoder = JSONEncoder()
      encoder.outputFormatting = .sortedKeys
      guard let json = try? Secret(encoding: AnyEncodable(value: value), with: encoder) else {
        return nil
      }
      self = .json(json)
    }
  }
}
