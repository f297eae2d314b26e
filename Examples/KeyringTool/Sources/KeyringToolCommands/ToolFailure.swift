/// What kept a command from doing its work, other than an error of the storage.
public struct ToolFailure: Error, Sendable, Equatable, CustomStringConvertible {
  /// What went wrong: a sentence.
  public let message: String
  /// What to do about it: a sentence.
  public let advice: String

  /// Makes a failure.
  ///
  /// - Parameters:
  ///   - message: What went wrong.
  ///   - advice: What to do about it.
  public init(_ message: String, advice: String) {
    self.message = message
    self.advice = advice
  }

  /// Both sentences.
  public var description: String { "\(message) \(advice)" }
}
