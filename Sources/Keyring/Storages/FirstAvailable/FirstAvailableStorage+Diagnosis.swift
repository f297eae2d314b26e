// SPDX-License-Identifier: Apache-2.0

public import KeyringStorage
internal import Synchronization

extension FirstAvailableStorage {
  /// Finds out whether each of the storages works here, and which of them is selected.
  ///
  /// The selection itself is left to the first operation.
  ///
  /// - Parameter writing: Whether to store, read and remove an item in the selected storage.
  /// - Returns: The findings of all storages, and the failure and the protection of the selected one.
  /// - Throws: `.canceled` for a cancelled task.
  public func diagnoseWithoutBlocking(
    writing: Bool
  ) async throws(SecureStorageError) -> StorageDiagnosis {
    var diagnosis = StorageDiagnosis(of: "FirstAvailableStorage")
    let made = decision.state.withLock { $0 }
    var examined: [StorageDiagnosis] = []
    for storage in storages { examined.append(try await storage.diagnose()) }
    do throws(SecureStorageError) {
      var selection: Selection
      if let made = made.selection {
        selection = made
      } else {
        selection = try await select(memory.read(.diagnose), .diagnose) { [examined] in examined[$0]
        }
      }
      if writing {
        examined[selection.index] = try await storages[selection.index].diagnose(writing: true)
      }
      for member in examined { diagnosis.add(member) }
      if made.selection != nil, !selection.isForGood {
        // A storage may have become available since the selection was made.
        selection.appeared = appeared(before: selection.index, of: examined)
      }
      add(selection, to: &diagnosis)
      diagnosis.failure = examined[selection.index].failure
      diagnosis.protection = examined[selection.index].protection
      let isRemembered = made.isRemembered || selection.remembered != nil
      addRememberedSelection(selection, isRemembered: isRemembered, to: &diagnosis)
    } catch {
      if error.code == .canceled { throw error }
      for member in examined { diagnosis.add(member) }
      diagnosis.add("selection", error)
    }
    return diagnosis
  }

  /// Returns the diagnoses of the storages before an index that are available now.
  private func appeared(
    before index: Int, of examined: [StorageDiagnosis]
  ) -> [StorageDiagnosis] {
    zip(storages, examined).prefix(index)
      .filter { !($0.0 is any ReadOnlyStorage) && $0.1.isAvailable }.map(\.1)
  }

  private func add(_ selection: Selection, to diagnosis: inout StorageDiagnosis) {
    if !selection.appeared.isEmpty {
      let others = selection.appeared.map(\.storage).joined(separator: " and ")
      return diagnosis.add(
        "selection", "\(selection.storage.backendName) is in use, and \(others) could be.",
        recoverySuggestion: howToUseAnother)
    }
    let isSettled = selection.remembered == selection.name || selection.skipped.isEmpty
    diagnosis.add(
      "selection", "\(selection).",
      recoverySuggestion: isSettled ? nil : "To use another storage, fix the problem listed above."
    )
  }

  /// Adds the problem that keeps a selection from being remembered, if there is one.
  private func addRememberedSelection(
    _ selection: Selection, isRemembered: Bool, to diagnosis: inout StorageDiagnosis
  ) {
    if memory.lacksPlace {
      diagnosis.add(
        "memory",
        "The selection isn't remembered, because there is neither XDG_STATE_HOME nor a home directory.",
        recoverySuggestion: "Set XDG_STATE_HOME. Otherwise each run selects a storage again.")
    }
    if isRemembered || diagnosis.failure != nil || selection.storage is any ReadOnlyStorage {
      return
    }
    if let obstacle = memory.obstacle() { diagnosis.add("memory", obstacle) }
  }
}
