// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// A kind of item, such as a password or a login with its password.
///
/// ```swift
/// extension ItemKind { static let certificate = ItemKind(rawValue: "certificate") }
/// ```
public struct ItemKind: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  /// The name of the kind, which is stored with its items.
  public let rawValue: String

  /// Creates a kind.
  ///
  /// - Parameter rawValue: The name of the kind. It can't contain a colon or a comma.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// A password, identified by a service and an account.
  public static let password = ItemKind(rawValue: "password")
  /// A login and its password, identified by a service and a label.
  public static let credentials = ItemKind(rawValue: "credentials")

  /// The password of an account on a server.
  public static let internetPassword = ItemKind(rawValue: "internet-password")
  /// Bytes or an encoded value, identified by a service and an account.
  public static let value = ItemKind(rawValue: "value")

  /// The schema of items of this kind, by which libsecret's tools know them.
  package var schema: String {
    self == .internetPassword
      ? "org.gnome.keyring.NetworkPassword" : "org.freedesktop.Secret.Generic"
  }

  /// Compares the names of two kinds, byte for byte.
  public static func == (lhs: ItemKind, rhs: ItemKind) -> Bool {
    lhs.rawValue.hasSameBytes(rhs.rawValue)
  }

  /// The name of the kind.
  public var description: String { rawValue }
}
