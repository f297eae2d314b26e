// SPDX-License-Identifier: Apache-2.0

import KeyringStorage

/// The parts of an item that every storage must report in the same way, byte for byte.
///
/// The times aren't among them. Keyrings keep whole seconds, and differ on what a modification is.
struct ComparableItem: Hashable {
  let kind: [UInt8]
  let key: [[UInt8]: [UInt8]]
  let secret: [UInt8]?
  let label: [UInt8]?
  let attributes: [[UInt8]: [UInt8]]?
  let isLocked: Bool?
  let hasTimes: Bool

  init(_ item: SecureItem) {
    kind = Array(item.key.kind.rawValue.utf8)
    key = item.key.attributes.bytes
    secret = item.secret?.withUnsafeBytes { Array($0) }
    label = item.label.map { Array($0.utf8) }
    attributes = item.attributes?.bytes
    isLocked = item.isLocked
    hasTimes = item.created != nil && item.modified != nil
  }
}

extension [String: String] {
  fileprivate var bytes: [[UInt8]: [UInt8]] {
    reduce(into: [:]) { $0[Array($1.key.utf8)] = Array($1.value.utf8) }
  }
}

// MARK: - As text

extension ComparableItem: CustomStringConvertible {
  var description: String {
    """
    \(kind.shown) \(key.shown), secret \(secret?.shown ?? "-"), label \(label?.shown ?? "-"), \
    attributes \(attributes?.shown ?? "-")
    """
  }
}

extension ModelOperation: CustomStringConvertible {
  var description: String {
    switch self {
    case .save(let item, let mode): "save, \(mode), \(ComparableItem(item))"
    case .find(let query): "find \(query.shown)"
    case .remove(let query): "remove \(query.shown)"
    }
  }
}

extension ItemQuery {
  fileprivate var shown: String {
    let item = ComparableItem(
      SecureItem(key: key ?? ItemKey(kind: kind ?? ItemKind(rawValue: ""), attributes: [:])))
    return """
      \(item.kind.shown) \(item.key.shown), attributes \(attributes.bytes.shown), label \
      \(label.map { Array($0.utf8).shown } ?? "-"), ignores case \(ignoresCase), limit \
      \(limit.map { "\($0)" } ?? "-"), unlocks \(allowsUnlocking), details \(details.rawValue), created \
      \(created.map { "\($0)" } ?? "-"), modified \(modified.map { "\($0)" } ?? "-")
      """
  }
}

extension [UInt8] {
  /// The beginning of the bytes, as ASCII with escapes if they are text, and else as numbers.
  fileprivate var shown: String {
    let text = String(validating: self, as: UTF8.self).map { text in
      "\"" + text.unicodeScalars.prefix(40).map { $0.escaped(asASCII: true) }.joined() + "\""
    }
    return (text ?? "\(prefix(40))") + (count > 40 ? " (\(count) bytes)" : "")
  }
}

extension [[UInt8]: [UInt8]] {
  fileprivate var shown: String {
    "[" + map { "\($0.shown): \($1.shown)" }.sorted().joined(separator: ", ") + "]"
  }
}
