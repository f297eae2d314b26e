// SPDX-License-Identifier: Apache-2.0

/// An error that says that a storage doesn't comply with a rule.
public struct ContractViolation: Error, CustomStringConvertible {
  /// The case that failed.
  public let rule: StorageContract
  /// A description of the storage's behavior.
  public let finding: String

  /// The case and the storage's behavior on one line.
  public var description: String { "\(rule.testDescription): \(finding)" }
}
