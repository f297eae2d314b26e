// SPDX-License-Identifier: Apache-2.0

/// A type that lists its secure properties itself.
///
/// ``SecureProperties`` finds the properties of most types by reflection, so most types don't need this protocol.
/// List the properties of a type that has a `customMirror`, or a `lazy` property with nested settings, or of all types
/// in a program that is built with `-disable-reflection-metadata`:
///
/// ```swift
/// extension SecureSettings: SecurePropertyList {
///   var secureProperties: [any AnySecureProperty] { [$account, $authToken] }
/// }
/// ```
///
/// Add the properties of nested settings to the array. Properties that aren't listed aren't looked for.
public protocol SecurePropertyList {
  /// The secure properties, as their projected values.
  var secureProperties: [any AnySecureProperty] { get }
}
