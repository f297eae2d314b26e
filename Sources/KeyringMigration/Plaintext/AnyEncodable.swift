// SPDX-License-Identifier: Apache-2.0

/// A value of any type, including nested dictionaries and arrays as in property lists.
struct AnyEncodable: Encodable {
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
