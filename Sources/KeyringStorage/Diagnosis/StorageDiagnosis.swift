/// What was found out about a storage: whether it works here, and if not, what to do about it.
///
/// It is for people who set a machine up, for logs and for scripts. Nothing in it is a secret. Each
/// finding is one line:
///
/// ```swift
/// for finding in SecretServiceStorage().diagnose().findings { print(finding) }
/// ```
public struct StorageDiagnosis: Sendable, Equatable, CustomStringConvertible {
  /// One thing that was looked at.
  public struct Finding: Sendable, Equatable, CustomStringConvertible {
    /// What a finding means for the storage.
    public enum State: String, Sendable, CaseIterable {
      /// As it should be.
      case ok
      /// Worth knowing; it keeps nothing from being stored.
      case notice
      /// It keeps items from being stored.
      case failure
    }

    /// The name of the storage.
    public let storage: String
    /// What was looked at: "session bus".
    public let subject: String
    /// What it means for the storage.
    public let state: State
    /// What was found, in one line.
    public let text: String
    /// What to do about it, in one line; `nil` where nothing is to be done.
    public let advice: String?

    /// Makes a finding; whatever could break a line is taken out of it.
    ///
    /// - Parameters:
    ///   - storage: The name of the storage.
    ///   - subject: What was looked at.
    ///   - state: What it means for the storage.
    ///   - text: What was found.
    ///   - advice: What to do about it.
    public init(
      storage: String, subject: String, state: State, text: String, advice: String? = nil
    ) {
      self.storage = storage.inOneLine
      self.subject = subject.inOneLine
      self.state = state
      self.text = text.inOneLine
      self.advice = advice?.inOneLine
    }

    /// All of it in one line.
    public var description: String {
      "\(state.rawValue): \(storage), \(subject): \(text)\(advice.map { " \($0)" } ?? "")"
    }
  }

  /// The name of the storage.
  public let storage: String
  /// What was looked at, in the order in which it was.
  public private(set) var findings: [Finding] = []
  /// What saving an item would fail with here and now, as far as that is seen without saving one; `nil`
  /// when nothing is in the way of it, except perhaps a question that the keyring may ask the user.
  ///
  /// It is `.noStorage` where nothing of the program is stored, and nothing can be, whatever saving
  /// says of that: ``FirstAvailable`` passes over such a storage. And it is `.readOnly` where what is
  /// stored can be read, and nothing can be written.
  public internal(set) var failure: SecureStorageError?

  /// Makes a diagnosis without findings.
  ///
  /// - Parameter storage: The name of the storage.
  public init(of storage: String) {
    self.storage = storage
  }

  /// Adds something that keeps nothing from being stored.
  ///
  /// - Parameters:
  ///   - subject: What was looked at.
  ///   - text: What was found: a sentence, or a value.
  ///   - advice: What to do about it; with advice the finding is a notice.
  public mutating func add(_ subject: String, _ text: String, advice: String? = nil) {
    findings.append(
      Finding(
        storage: storage, subject: subject, state: advice == nil ? .ok : .notice, text: text,
        advice: advice))
  }

  /// Adds something that keeps items from being stored; the first of several is the ``failure``.
  ///
  /// - Parameters:
  ///   - subject: What was looked at.
  ///   - error: What saving would fail with.
  public mutating func add(_ subject: String, _ error: SecureStorageError) {
    let cause = error.underlying.map { " [\($0)]" } ?? ""
    findings.append(
      Finding(
        storage: storage, subject: subject, state: .failure,
        text: "\(error.message) (\(error.code))\(cause)", advice: error.advice))
    failure = failure ?? error
  }

  /// Adds the findings about another storage that this one may use; what fails there is none of this
  /// one's failures.
  ///
  /// - Parameter other: The diagnosis of the other storage.
  public mutating func add(_ other: StorageDiagnosis) {
    findings += other.findings
  }

  /// All findings, one in each line.
  public var description: String { findings.map(\.description).joined(separator: "\n") }
}
