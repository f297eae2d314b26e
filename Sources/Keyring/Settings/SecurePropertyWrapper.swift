// SPDX-License-Identifier: Apache-2.0

/// A property wrapper that declares a secure property.
protocol SecurePropertyWrapper {
  associatedtype Stored: Sendable
  var projectedValue: SecureProperty<Stored> { get }
}

extension Password: SecurePropertyWrapper {}
extension Credentials: SecurePropertyWrapper {}
extension InternetPassword: SecurePropertyWrapper {}
extension SecureValue: SecurePropertyWrapper {}
