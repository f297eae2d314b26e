// SPDX-License-Identifier: Apache-2.0

/// A type that lists its secure properties itself, where reflection fails to find them.
///
/// Conform a type that has a `customMirror` or a `lazy` property of settings, and any type in a program
/// that is built with `-disable-reflection-metadata`. List the properties of nested settings, too:
///
/// ```swift
/// extension SecureSettings: SecurePropertyList {
///   var secureProperties: [any SecureProperty] { [$account, $authToken] }
/// }
/// ```
public protocol SecurePropertyList {
  /// The secure properties: the wrappers or their projected values.
  var secureProperties: [any SecureProperty] { get }
}
