// SPDX-License-Identifier: Apache-2.0

internal import KeyringRuntime
public import KeyringStorage
internal import Synchronization

extension FirstAvailableStorage {
  /// Returns the selected storage, and selects it first where needed.
  ///
  /// ```swift
  /// print(try storage.selection())  // EncryptedFileStorage, as SecretServiceStorage has noSessionBus
  /// ```
  ///
  /// - Returns: The storage, and the reasons for not selecting those before it.
  /// - Throws: `.noStorage` with the reason of each unavailable storage, `.selectedStorageMissing` for a remembered one
  ///   that is gone, or the error that leaves open whether a storage is available.
  public func selection() throws(SecureStorageError) -> Selection {
    try ThreadExecutor.runToEnd { () async throws(SecureStorageError) in try await selection() }
  }

  /// Returns the selected storage asynchronously, and selects it first where needed.
  ///
  /// - Returns: The storage, and the reasons for not selecting those before it.
  /// - Throws: The errors of the synchronous overload, or `.canceled` for a cancelled task.
  public func selection() async throws(SecureStorageError) -> Selection {
    try await selection(for: .read)
  }

  /// Selects a storage permanently, even if others are available.
  ///
  /// Items in other storages stay there. Another process uses the selection the next time it's started.
  ///
  /// ```swift
  /// try storage.select(0)
  /// ```
  ///
  /// - Parameter index: The position of the storage in the list, counted from 0.
  /// - Throws: `.invalidArgument` for an index outside of the list, `.noStorage` where there is no place to remember
  ///   the selection, or the error of writing it down.
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
  /// Stored items stay where they are.
  ///
  /// - Throws: `SecureStorageError` for a failure to remove what is remembered.
  public func forgetSelection() throws(SecureStorageError) {
    try memory.replace(with: nil)
    decision.forget()
  }

  // MARK: - The current selection

  /// Returns the current selection, and makes it first where needed.
  func selection(
    for operation: SecureStorageError.Operation
  ) async throws(SecureStorageError) -> Selection {
    let (known, generation) = decision.state.withLock { ($0.selection, $0.generation) }
    if let known { return known }
    let found = try await select(memory.read(operation), operation) {
      (index) async throws(SecureStorageError) in
      do throws(SecureStorageError) {
        return try await storages[index].diagnose()
      } catch {
        var error = error
        (error.operation, error.backendName) = (operation, backendName)
        throw error
      }
    }
    // If several threads ask at the same time, the first one decides for all.
    let outcome = decision.state.withLock { state -> (selection: Selection, mustNotify: Bool)? in
      if state.generation != generation { return nil }
      let selection = state.selection ?? found
      defer { state.isTold = true }
      state.selection = selection
      state.isRemembered = selection.remembered == selection.name
      return (selection, !selection.appeared.isEmpty && !state.isTold)
    }
    // Someone has selected another storage, or forgotten the selection, in the meantime.
    guard let outcome else { return try await selection(for: operation) }
    KeyringEvent.report(decision.event(of: outcome.selection))
    if outcome.mustNotify { notify(outcome.selection) }
    return outcome.selection
  }

  /// Returns the current selection after it's remembered, so that stored items are found again.
  func selectionForWriting(
    for operation: SecureStorageError.Operation
  ) async throws(SecureStorageError) -> Selection {
    let selection = try await selection(for: operation)
    // A read-only storage isn't remembered, because nothing is stored in it.
    if selection.storage is any ReadOnlyStorage || decision.state.withLock({ $0.isRemembered }) {
      return selection
    }
    let remembered = try memory.remember(RememberedSelection(name: selection.name), operation)
    if remembered.name == selection.name {
      decision.state.withLock { $0.isRemembered = true }
      return selection
    }
    // Another process has remembered another storage first. This process has written nothing yet, so it
    // uses that storage too.
    decision.forget()
    return try await self.selection(for: operation)
  }

  /// Selects a storage.
  ///
  /// - Parameters:
  ///   - remembered: The selection of an earlier run.
  ///   - operation: The operation that needs the storage.
  ///   - diagnose: A closure that returns the diagnosis of the storage at an index.
  /// - Returns: The selection.
  /// - Throws: `SecureStorageError` for a failed selection.
  func select(
    _ remembered: RememberedSelection?, _ operation: SecureStorageError.Operation,
    _ diagnose: (Int) async throws(SecureStorageError) -> StorageDiagnosis
  ) async throws(SecureStorageError) -> Selection {
    let bound = try remembered.map { (selection) throws(SecureStorageError) in
      try index(of: selection, operation)
    }
    var skipped: [StorageDiagnosis] = []
    var appeared: [StorageDiagnosis] = []
    for index in storages.indices {
      let isBefore = index < bound ?? 0 && !(storages[index] is any ReadOnlyStorage)
      if isBefore, remembered?.isForGood == true { continue }
      let diagnosis = try await diagnose(index)
      if isBefore {
        if diagnosis.isAvailable { appeared.append(diagnosis) } else { skipped.append(diagnosis) }
      } else if diagnosis.isAvailable {
        return Selection(
          storage: storages[index], index: index, skipped: skipped, appeared: appeared,
          remembered: remembered?.name, name: names[index],
          isForGood: remembered?.isForGood ?? false)
      } else if diagnosis.canBeSkipped {
        if index == bound { throw missing(diagnosis, operation) }
        skipped.append(diagnosis)
      } else {
        throw (diagnosis.failure ?? noStorage([diagnosis], operation)).during(operation)
      }
    }
    throw noStorage(skipped, operation)
  }

  private func index(
    of remembered: RememberedSelection, _ operation: SecureStorageError.Operation
  ) throws(SecureStorageError) -> Int {
    if let index = names.firstIndex(of: remembered.name) { return index }
    // The error is about the remembered storage, which `error(_:during:)` wouldn't name.
    throw SecureStorageError(
      .selectedStorageMissing, operation: operation, backendName: remembered.name,
      message: """
        This program keeps its secrets in \(remembered.name), which isn't in its list of storages.
        """, recoverySuggestion: "Use the version of the program that has it. \(howToSelectAgain)")
  }

  private func missing(
    _ diagnosis: StorageDiagnosis, _ operation: SecureStorageError.Operation
  ) -> SecureStorageError {
    // The error is about the remembered storage, which `error(_:during:)` wouldn't name.
    SecureStorageError(
      .selectedStorageMissing, operation: operation, backendName: diagnosis.storage,
      message: """
        This program keeps its secrets in \(diagnosis.storage), which isn't available. \
        \(diagnosis.failure?.message ?? "")
        """,
      recoverySuggestion: "\(diagnosis.failure?.recoverySuggestion ?? "") \(howToSelectAgain)",
      underlying: diagnosis.failure?.underlying)
  }

  private var howToSelectAgain: String {
    "To begin with another storage, without these secrets, "
      + (memory.path.map { "remove \($0.inOneLine)." } ?? "forget the selection.")
  }

  private func noStorage(
    _ diagnoses: [StorageDiagnosis], _ operation: SecureStorageError.Operation
  ) -> SecureStorageError {
    let failures = diagnoses.compactMap { diagnosis in
      diagnosis.failure.map { (name: diagnosis.storage, failure: $0) }
    }
    let reasons = failures.map { "\($0.name): \($0.failure.message)" }
    let suggestions = failures.map { "\($0.name): \($0.failure.recoverySuggestion ?? "")" }
    // `error(_:during:)` would name the storage that another thread may have selected.
    return SecureStorageError(
      .noStorage, operation: operation, backendName: "FirstAvailableStorage",
      message: (["No storage can be used here."] + reasons).joined(separator: " "),
      recoverySuggestion: suggestions.isEmpty
        ? "Pass at least one storage." : suggestions.joined(separator: " "))
  }

  // MARK: - Another available storage

  private func notify(_ selection: Selection) {
    if let handler { return handler(selection) }
    StandardError.write("Secrets are in \(selection). \(howToUseAnother)".inOneLine + "\n")
  }

  /// The suggestion for using another storage that is available.
  var howToUseAnother: String {
    guard let path = memory.path else { return "Restart the program to select again." }
    return """
      To use another, move the secrets there, and remove \(path.inOneLine). To stop this message, add \
      the line "for good" to that file.
      """
  }
}
