// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
internal import KeyringStorage

/// The representation of a key as the attributes of a Secret Service item.
extension ItemKey {
  /// The value of this package's private attribute: the kind, the schema if the key names one, and the names of
  /// the key's parts.
  ///
  /// Decisions/0004 has the reasons.
  private var signature: String {
    "\(storedKind):\(attributes.keys.sorted().joined(separator: ","))"
  }

  /// The attributes that find this package's own item.
  var ownAttributes: [String: String] {
    var own = attributes
    own[AttributeName.key] = signature
    return own
  }

  /// The attributes of a new item, without its extra attributes.
  var newAttributes: [String: String] {
    ownAttributes.setting([AttributeName.schema: schema ?? kind.schema])
  }

  /// Creates the key of this package's item, or returns `nil` if the item is of an unknown kind.
  init?(signature: String, _ itemAttributes: [String: String]) {
    // Finding characters takes several times as long as finding bytes.
    let bytes = signature.utf8
    guard let end = bytes.lastIndex(of: UInt8(ascii: ":")), end > bytes.startIndex else {
      return nil
    }
    let names = bytes[bytes.index(after: end)...].split(separator: UInt8(ascii: ","))
      .map { String(Substring($0)) }
    let attributes = itemAttributes.keeping { names.contains($0) }
    guard !names.isEmpty, attributes.count == names.count else { return nil }
    self.init(storedKind: signature[..<end], attributes: attributes)
  }
}
#endif
