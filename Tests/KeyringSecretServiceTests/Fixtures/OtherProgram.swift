// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Testing

/// Another program that stores passwords by service and user name in the same keyring.
protocol OtherProgram: Sendable, CustomTestStringConvertible {
  /// Stores a password as the program does, and replaces one that is there.
  func set(_ password: String, service: String, username: String) throws
  func get(service: String, username: String) throws -> String?
  func remove(service: String, username: String) throws
}

extension OtherProgram {
  var testDescription: String { "\(Self.self)" }
}

extension [any OtherProgram] {
  static var all: Self { [SecretTool(), PythonKeyring(), PythonSecretStorage()] }
}
#endif
