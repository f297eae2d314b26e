#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Plaintext values that the app reads and removes itself.
struct PlaintextValues: PlaintextStore {
  let read: @Sendable (String) throws -> Any?
  let removeNames: @Sendable ([String]) throws -> Void

  var name: String { "Plaintext.values" }

  func values(at paths: [[String]]) throws(SecureStorageError) -> [PlaintextValue?] {
    var values: [PlaintextValue?] = []
    for path in paths { values.append(try value(at: path)) }
    return values
  }

  func remove(
    _ paths: [[String]], after check: ([PlaintextValue?]) throws(SecureStorageError) -> Void
  ) throws(SecureStorageError) {
    try check(values(at: paths))
    do {
      try removeNames(paths.compactMap(\.first))
    } catch {
      throw failure(.backend, .remove, "The app could not remove the values.")
    }
    guard try values(at: paths).allSatisfy({ $0 == nil }) else {
      throw failure(.backend, .remove, "The app has not removed all of the values.")
    }
  }

  private func value(at path: [String]) throws(SecureStorageError) -> PlaintextValue? {
    guard let name = path.first, path.count == 1 else {
      throw failure(.invalidArgument, .read, "The path of a value of the app has one name.")
    }
    let value: Any?
    do { value = try read(name) } catch {
      throw failure(.backend, .read, "The app could not read the value \"\(name)\".")
    }
    guard let value else { return nil }
    if let found = PlaintextValue(value) { return found }
    throw failure(.undecodable, .read, "The value \"\(name)\" cannot be encoded as JSON.")
  }

  // What the app's closures throw is not passed on: it could quote a secret.
  private func failure(
    _ code: SecureStorageError.Code, _ operation: SecureStorageError.Operation, _ message: String
  ) -> SecureStorageError {
    SecureStorageError(
      code, operation: operation, backend: name, message: message,
      advice: "Correct it, and run the migration again.")
  }
}

extension PlaintextValue {
  /// A value of a dictionary such as the user defaults'; `nil` when it cannot be encoded.
  fileprivate init?(_ value: Any) {
    switch value {
    case let text as String: self = .text(Secret(text))
    case let data as Data: self = .bytes(Secret(bytes: data))
    case let bytes as [UInt8]: self = .bytes(Secret(bytes: bytes))
    default:
      // Sorted, so that the same value is the same bytes when it is read again.
      let encoder = JSONEncoder()
      encoder.outputFormatting = .sortedKeys
      guard var data = try? encoder.encode(AnyEncodable(value: value)) else { return nil }
      defer { data.resetBytes(in: data.indices) }
      self = .json(Secret(bytes: data))
    }
  }
}

/// Dictionaries and arrays of anything, as property lists have them.
private struct AnyEncodable: Encodable {
  let value: Any

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch value {
    case let dictionary as [String: Any]:
      try container.encode(dictionary.mapValues { AnyEncodable(value: $0) })
    case let array as [Any]: try container.encode(array.map { AnyEncodable(value: $0) })
    case let value as any Encodable: try container.encode(value)
    default:
      throw EncodingError.invalidValue(
        type(of: value), .init(codingPath: encoder.codingPath, debugDescription: "not encodable"))
    }
  }
}
