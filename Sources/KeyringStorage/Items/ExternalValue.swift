// SPDX-License-Identifier: Apache-2.0

internal import KeyringPlatform

/// A value that comes from outside a storage, for example from a file or an app's own settings.
///
/// The value is in memory that's overwritten on release.
package enum ExternalValue: Sendable {
  /// Text.
  case text(Secret)
  /// Bytes, or JSON that an app has encoded itself.
  case bytes(Secret)
  /// JSON of any type except a string.
  case json(Secret)

  /// Whether the value has bytes that aren't text in UTF-8.
  package var isInvalidText: Bool {
    switch self {
    case .text(let text), .bytes(let text): !text.isUTF8
    case .json: false
    }
  }

  /// The value as text, or `nil` for bytes of another kind.
  package var text: Secret? {
    switch self {
    case .text(let text), .bytes(let text): text.isUTF8 ? text : nil
    case .json: nil
    }
  }

  /// Returns the JSON of the value and its decoded form, or `nil` for a value of another type.
  package func json<Value: Decodable>(as type: Value.Type) -> (json: Secret, value: Value)? {
    for json in possibleJSON(isText: type is String.Type) {
      if let value = json.decoded(as: type) { return (json, value) }
    }
    return nil
  }

  private func possibleJSON(isText: Bool) -> [Secret] {
    switch self {
    case .json(let json), .bytes(let json): [json]
    // A String has the text itself as its value. For another type, the text is either JSON or a string that
    // represents the value.
    case .text(let text): (isText ? [] : [text]) + [text.quoted].compactMap(\.self)
    }
  }
}

extension Secret {
  /// The text as a JSON string.
  fileprivate var quoted: Secret? {
    // The encoder accepts any String.
    text.flatMap { try? Secret(encoding: $0) }
  }
}
