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
    case _ where isNull: try container.encodeNil()
    // A number 1 of Foundation can be cast to Bool, too.
    case let value as Bool where className == "__NSCFBoolean": try container.encode(value)
    case let value as Int: try container.encode(value)
    case let value as UInt: try container.encode(value)
    case let value as Double: try container.encode(value)
    default:
      throw EncodingError.invalidValue(
        type(of: value), .init(codingPath: encoder.codingPath, debugDescription: "not encodable"))
    }
  }

  /// Whether the value is the one that stands for none in Foundation's collections.
  var isNull: Bool { className == "NSNull" }

  /// The name of the value's class, by which this code knows those of Foundation without linking it.
  private var className: String { String(describing: type(of: value)) }
}
