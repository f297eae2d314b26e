// SPDX-License-Identifier: Apache-2.0

/// An error that says that a storage breaks a rule.
public struct ContractViolation: Error {
  /// The case that failed.
  public let rule: StorageContract
  /// A description of the storage's behavior.
  public let finding: String
}
