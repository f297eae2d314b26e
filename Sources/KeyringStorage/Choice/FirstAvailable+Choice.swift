internal import Synchronization

extension FirstAvailable {
  /// Which storage was chosen, and why those before it were not.
  public struct Choice: Sendable, CustomStringConvertible {
    /// The storage that was chosen.
    public let storage: any SecureStorage
    /// Its place in the list, counted from 0.
    public let index: Int
    /// What was found out about the storages before it that could not be used; each has a failure.
    public let passedOver: [StorageDiagnosis]
    /// What was found out about the storages before it that could be used, and are not, as another is
    /// remembered.
    public internal(set) var appeared: [StorageDiagnosis] = []
    /// The name of the storage that an earlier run has chosen; `nil` when none has.
    public let remembered: String?
    /// What the storage is remembered by.
    let name: String
    /// Whether the user wants it, whatever else there is.
    var isForGood = false

    /// The name of the storage, and why it is not one before it, in one line.
    public var description: String {
      let own = storage.backendName
      if let remembered {
        guard remembered == name else { return "\(own), though \(remembered) is remembered" }
        let others = appeared.map(\.storage).joined(separator: " and ")
        return "\(own), as remembered" + (others.isEmpty ? "" : ", though \(others) could be used")
      }
      let reasons = passedOver.compactMap { diagnosis in
        diagnosis.failure.map { "\(diagnosis.storage) has \($0.code)" }
      }
      return reasons.isEmpty ? own : "\(own), as \(reasons.joined(separator: " and "))"
    }
  }

  /// Chooses a storage, unless that was done before.
  ///
  /// - Returns: The storage, and why those before it were not chosen.
  /// - Throws: `.noStorage` when none is there, with the reason of each; `.chosenStorageMissing` when
  ///   the one that is remembered is not; or what left open whether one is there.
  public func choice() throws(SecureStorageError) -> Choice {
    try ThreadExecutor.runToEnd { () async throws(SecureStorageError) in try await choice() }
  }

  /// Chooses a storage, unless that was done before, without blocking the task's thread.
  ///
  /// - Returns: The storage, and why those before it were not chosen.
  /// - Throws: The same errors as the synchronous form, or `.canceled` if the task is cancelled.
  public func choice() async throws(SecureStorageError) -> Choice {
    try await choice(for: .read)
  }

  /// Chooses a storage for good, whatever is there: for whoever sits at the far end of a remote shell,
  /// say, with a keyring that cannot start, and wants the file.
  ///
  /// From the next operation on the others are not even looked at, but for a ``ReadOnlyStorage`` before
  /// it. Nothing is moved: what is stored elsewhere stays there. Another process takes notice when it is
  /// started the next time.
  ///
  /// - Parameter index: The place of the storage in the list, counted from 0.
  /// - Throws: `.invalidArgument` when there is none, `.noStorage` where nothing can be remembered, and
  ///   what kept it from being remembered.
  public func choose(_ index: Int) throws(SecureStorageError) {
    guard storages.indices.contains(index) else {
      throw SecureStorageError(
        .invalidArgument, operation: .save, backend: "FirstAvailable",
        message: "There is no storage \(index) in the list.",
        advice: "Name one of 0 to \(storages.count - 1).", argument: "index")
    }
    try memory.replace(with: RememberedChoice(name: names[index], isForGood: true))
    decision.state.withLock { $0 = .init() }
  }

  /// Forgets which storage was chosen: the next operation chooses again.
  ///
  /// Nothing is moved or removed: what was stored stays where it is.
  ///
  /// - Throws: What kept it from being forgotten.
  public func forgetChoice() throws(SecureStorageError) {
    try memory.replace(with: nil)
    decision.state.withLock { $0 = .init() }
  }
}
