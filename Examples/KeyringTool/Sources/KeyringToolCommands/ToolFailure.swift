// SPDX-License-Identifier: Apache-2.0

/// An error of a command, other than an error of the storage.
public struct ToolFailure: Error, Sendable, Equatable, CustomStringConvertible {
  /// A sentence that describes the problem.
  public let message: String
  /// A sentence that suggests a solution.
  public let recoverySuggestion: String

  /// Creates a failure.
  ///
  /// - Parameters:
  ///   - message: A sentence that describes the problem.
  ///   - recoverySuggestion: A sentence that suggests a solution.
  public init(_ message: String, recoverySuggestion: String) {
    self.message = message
    self.recoverySuggestion = recoverySuggestion
  }

  /// Both sentences.
  public var description: String { "\(message) \(recoverySuggestion)" }
}
