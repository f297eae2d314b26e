// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)

/// A name that many messages contain: of an interface, a method, a signal or a property.
///
/// GLib checks and copies a text for each value that it makes of it, so the name keeps its value.
final class DBusName: Sendable, Equatable, ExpressibleByStringLiteral {
  let text: String
  let value: Variant

  init(_ text: String) {
    self.text = text
    value = .string(text)
  }

  convenience init(stringLiteral text: String) { self.init(text) }

  static func == (a: DBusName, b: DBusName) -> Bool { a.text == b.text }
}
#endif
