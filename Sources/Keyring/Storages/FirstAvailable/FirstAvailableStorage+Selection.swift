// SPDX-License-Identifier: Apache-2.0

internal import KeyringRuntime
public import KeyringStorage
internal import Synchronization

extension FirstAvailableStorage {
  /// The selected storage, and the reasons for not selecting those before it.
  public struct Selection: Sendable, CustomStringConvertible {
    /// The selected storage.
    public let storage: any SecureStorage
    /// The position of the storage in the list, counted from 0.
    public let index: Int
    /// The diagnoses of the unavailable storages before it, each of which has a failure.
    public let skipped: [StorageDiagnosis]
    /// The diagnoses of the available storages before it.
    ///
    /// They aren't used because another storage is remembered.
    public internal(set) var appeared: [StorageDiagnosis] = []
    /// The name of the storage that an earlier run chose, or `nil` if none did.
    public let remembered: String?
    /// The name under which the storage is remembered.
    let name: String
    /// Whether the user wants this storage regardless of the others.
    var isForGood = false

    /// The name of the storage and the reasons for selecting it, in one line.
    public var description: String {
      let own = storage.backendName
      if let remembered {
        guard remembered == name else { return "\(own), though \(remembered) is remembered" }
        let others = appeared.map(\.storage).joined(separator: " and ")
        return "\(own), as remembered" + (others.isEmpty ? "" : ", though \(others) could be used")
      }
      let reasons = skipped.compactMap { diagnosis in
        diagnosis.failure.map { "\(diagnosis.storage) has \($0.code)" }
      }
      return reasons.isEmpty ? own : "\(own), as \(reasons.joined(separator: " and "))"
    }
  }

  /// Selects a storage, unless one is already selected.
  ///
  /// - Returns: The storage, and the reasons for not selecting those before it.
  /// - Throws: `.noStorage` if no storage is available, with the reason for each. `.selectedStorageMissing`
  ///   if the remembered storage isn't available. Another error if it's uncertain whether a storage is
  ///   available.
  public func selection() throws(SecureStorageError) -> Selection {
    try ThreadExecutor.runToEnd { () async throws(SecureStorageError) in try await selection() }
  }

  /// Selects a storage, unless one is already selected, without blocking the task's thread.
  ///
  /// - Returns: The storage, and the reasons for not selecting those before it.
  /// - Throws: The same errors as the synchronous overload, or `.canceled` if the task is cancelled.
  public func selection() async throws(SecureStorageError) -> Selection {
    try await selection(for: .read)
  }

  /// Selects a storage permanently, even if others are available.
  ///
  /// Items in other storages stay there. Another process uses the selection the next time it's started.
  ///
  /// - Parameter index: The position of the storage in the list, counted from 0.
  /// - Throws: `.invalidArgument` if there is no such storage, `.noStorage` if there is no place to
  ///   remember the selection, or another error if it can't be remembered.
  public func select(_ index: Int) throws(SecureStorageError) {
    guard storages.indices.contains(index) else {
      // `error(_:during:)` would name the storage that was selected before.
      throw SecureStorageError(
        .invalidArgument, operation: .save, backendName: "FirstAvailableStorage",
        message: "There is no storage \(index) in the list.",
        recoverySuggestion: "Pass an index from 0 to \(storages.count - 1).", argument: "index")
    }
    try memory.replace(with: RememberedSelection(name: names[index], isForGood: true))
    decision.forget()
  }

  /// Forgets the selection, so that the next operation selects again.
  ///
  /// Nothing is moved or removed. Stored items stay where they are.
  ///
  /// - Throws: `SecureStorageError` if the selection can't be forgotten.
  public func forgetSelection() throws(SecureStorageError) {
    try memory.replace(with: nil)
    decision.forget()
  }
}
