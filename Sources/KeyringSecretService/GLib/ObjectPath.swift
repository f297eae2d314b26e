// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)

/// The path of an object on the bus.
struct ObjectPath: Hashable, Sendable {
  let text: String

  init(_ text: String) { self.text = text }

  /// `true` for the path that D-Bus uses for "no object".
  ///
  /// It means, for example, that no prompt is needed or that an alias doesn't exist.
  var isNone: Bool { text == "/" }

  /// Returns `true` for the collection that has the item with this path.
  func isInside(_ collection: ObjectPath) -> Bool {
    text.hasPrefix(collection.text + "/")
  }

  /// The part of the path after its last "/".
  var lastElement: Substring { text.split(separator: "/").last ?? "" }

  /// The path of the item's collection.
  var collection: ObjectPath {
    ObjectPath(text.lastIndex(of: "/").map { String(text[..<$0]) } ?? text)
  }

  /// Returns the path that stands for the collection with an alias.
  ///
  /// The alias is resolved when a message arrives.
  static func collection(aliased name: String) -> ObjectPath { ObjectPath(aliases + name) }

  /// `true` for a path that stands for the collection with an alias.
  var isAlias: Bool { text.hasPrefix(Self.aliases) }

  private static let aliases = "/org/freedesktop/secrets/aliases/"
}
#endif
