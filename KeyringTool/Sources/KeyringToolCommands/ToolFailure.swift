// SPDX-License-Identifier: Apache-2.0

package import KeyringStorage

/// An error of a command, other than an error of the storage.
public struct ToolFailure: Error, Sendable, Equatable, CustomStringConvertible {
  /// A sentence that describes the problem.
  public let message: String
  /// A sentence that suggests a solution.
  public let recoverySuggestion: String
  /// The exit status of the program.
  public let status: ToolStatus

  /// Creates a failure.
  ///
  /// - Parameters:
  ///   - message: A sentence that describes the problem.
  ///   - recoverySuggestion: A sentence that suggests a solution.
  ///   - status: The exit status of the program.
  public init(_ message: String, recoverySuggestion: String, status: ToolStatus = .failed) {
    self.message = message
    self.recoverySuggestion = recoverySuggestion
    self.status = status
  }

  /// The failure of a command that has found no item to work on.
  public static let nothingSelected = ToolFailure(
    "There is no such item.", recoverySuggestion: "Use the command \"list\" to list all items.",
    status: .notFound)

  /// Both sentences.
  public var description: String { "\(message) \(recoverySuggestion)" }
}

extension SecureStorageError {
  /// The message and the advice.
  package var sentences: String { "\(message) \(advice)" }

  /// The recovery suggestion, or the system's cause if nobody knows what to do.
  package var advice: String {
    Self.known(recoverySuggestion) ?? underlying.map { "The cause is: \($0.text)" } ?? "Try again."
  }

  /// Returns a suggestion, or `nil` for that of an unknown cause, in whose place the tool shows the cause.
  static func known(_ suggestion: String?) -> String? {
    let unknown = SecureStorageError(.other, operation: .read, backendName: "")
    return suggestion == unknown.recoverySuggestion ? nil : suggestion
  }
}
