// SPDX-License-Identifier: Apache-2.0

/// The findings about a storage: what works here, and what to do about the rest.
///
/// A diagnosis is for people who set up a machine, for logs and for scripts. It contains no secrets. Each
/// finding is one line:
///
/// ```swift
/// for finding in SecretServiceStorage().diagnose().findings { print(finding) }
/// ```
public struct StorageDiagnosis: Sendable, Equatable, CustomStringConvertible {
  /// A finding about one subject.
  public struct Finding: Sendable, Equatable, CustomStringConvertible {
    /// The effect of a finding on the storage.
    public enum State: String, Sendable, CaseIterable {
      /// The subject is as it should be.
      case ok
      /// The finding is worth knowing. Items can be stored.
      case notice
      /// The finding prevents items from being stored.
      case failure
    }

    /// The name of the storage.
    public let storage: String
    /// The subject of the finding, such as "session bus".
    public let subject: String
    /// The effect of the finding on the storage.
    public let state: State
    /// The description of the finding, in one line.
    public let text: String
    /// The suggestion for the user, in one line, if any.
    public let recoverySuggestion: String?

    /// Creates a finding, and replaces all characters in it that could break a line.
    ///
    /// - Parameters:
    ///   - storage: The name of the storage.
    ///   - subject: The subject of the finding.
    ///   - state: The effect of the finding on the storage.
    ///   - text: The description of the finding.
    ///   - recoverySuggestion: The suggestion for the user.
    public init(
      storage: String, subject: String, state: State, text: String,
      recoverySuggestion: String? = nil
    ) {
      self.storage = storage.inOneLine
      self.subject = subject.inOneLine
      self.state = state
      self.text = text.inOneLine
      self.recoverySuggestion = recoverySuggestion?.inOneLine
    }

    /// The complete finding in one line.
    public var description: String {
      "\(state.rawValue): \(storage), \(subject): \(text)\(recoverySuggestion.map { " \($0)" } ?? "")"
    }
  }

  /// The name of the storage.
  public let storage: String
  /// The findings, in the order in which they were made.
  public private(set) var findings: [Finding] = []
  /// The error that saving an item would throw now, as far as is known.
  ///
  /// It's `.noStorage` for a storage that has no items and can't store any, and `.readOnly` for one that can
  /// only be read.
  public package(set) var failure: SecureStorageError?
  /// The protection of a secret that the program stores now, as far as the storage can prove it.
  ///
  /// It's ``StorageProtection/unknown`` unless the storage sets it, and always for one that only reads. The default
  /// diagnosis sets ``StorageProtection/memory`` for a storage that is `.temporary`.
  public var protection = StorageProtection.unknown

  /// Creates a diagnosis without findings.
  ///
  /// - Parameter storage: The name of the storage.
  public init(of storage: String) { self.storage = storage }

  /// Adds a finding that doesn't prevent items from being stored.
  ///
  /// ```swift
  /// diagnosis.add("file", "/var/lib/app/secrets")
  /// diagnosis.add("backup", "is missing", recoverySuggestion: "Run app backup.")
  /// ```
  ///
  /// - Parameters:
  ///   - subject: The subject of the finding.
  ///   - text: The description of the finding, as a sentence or a value.
  ///   - recoverySuggestion: The suggestion for the user. A finding with a suggestion is a notice.
  public mutating func add(_ subject: String, _ text: String, recoverySuggestion: String? = nil) {
    findings.append(
      Finding(
        storage: storage, subject: subject, state: recoverySuggestion == nil ? .ok : .notice,
        text: text,
        recoverySuggestion: recoverySuggestion))
  }

  /// Adds a finding that prevents items from being stored.
  ///
  /// The error of the first such finding is the ``failure``.
  ///
  /// ```swift
  /// diagnosis.add("server", error(.accessDenied, during: .diagnose))
  /// ```
  ///
  /// - Parameters:
  ///   - subject: The subject of the finding.
  ///   - error: The error that saving would throw.
  public mutating func add(_ subject: String, _ error: SecureStorageError) {
    let cause = error.underlying.map { " [\($0)]" } ?? ""
    findings.append(
      Finding(
        storage: storage, subject: subject, state: .failure,
        text: "\(error.message) (\(error.code))\(cause)",
        recoverySuggestion: error.recoverySuggestion))
    failure = failure ?? error
  }

  /// Adds the findings about another storage that this one may use.
  ///
  /// A failure of the other storage isn't a ``failure`` of this one, and its ``protection`` isn't taken over.
  ///
  /// - Parameter other: The diagnosis of the other storage.
  public mutating func add(_ other: StorageDiagnosis) { findings += other.findings }

  /// All findings, one per line.
  public var description: String { findings.map(\.description).joined(separator: "\n") }
}
