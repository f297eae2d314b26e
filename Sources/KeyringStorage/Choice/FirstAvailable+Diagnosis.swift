internal import Synchronization

extension FirstAvailable {
  /// Finds out what each of the storages would do here, and which of them is chosen; a choice that has
  /// not been made is not made by this either.
  ///
  /// - Parameter writing: Whether an item is stored in the chosen one, read and removed again.
  /// - Returns: The findings of all storages, and the failure of the chosen one.
  public func diagnose(writing: Bool) -> StorageDiagnosis {
    do throws(SecureStorageError) {
      return try ThreadExecutor.runToEnd { () async throws(SecureStorageError) in
        try await diagnoseWithoutBlocking(writing: writing)
      }
    } catch {
      var diagnosis = StorageDiagnosis(of: "FirstAvailable")
      diagnosis.add("choice", error)
      return diagnosis
    }
  }

  /// Finds out what each of the storages would do here, and which of them is chosen; a choice that has
  /// not been made is not made by this either.
  ///
  /// - Parameter writing: Whether an item is stored in the chosen one, read and removed again.
  /// - Returns: The findings of all storages, and the failure of the chosen one.
  /// - Throws: `.canceled` if the task is cancelled.
  public func diagnoseWithoutBlocking(
    writing: Bool
  ) async throws(SecureStorageError) -> StorageDiagnosis {
    var diagnosis = StorageDiagnosis(of: "FirstAvailable")
    let made = decision.state.withLock { $0 }
    var examined: [StorageDiagnosis] = []
    for storage in storages { examined.append(try await storage.diagnose()) }
    do throws(SecureStorageError) {
      var choice: Choice
      if let made = made.choice {
        choice = made
      } else {
        choice = try await select(memory.read(.diagnose), .diagnose) { [examined] in examined[$0] }
      }
      if writing {
        examined[choice.index] = try await storages[choice.index].diagnose(writing: true)
      }
      for member in examined { diagnosis.add(member) }
      if made.choice != nil, !choice.isForGood {
        // A storage may have come since the choice was made.
        choice.appeared = appeared(before: choice.index, of: examined)
      }
      add(choice, to: &diagnosis)
      diagnosis.failure = examined[choice.index].failure
      if memory.lacksPlace {
        diagnosis.add(
          "memory", "The choice is not remembered: there is no XDG_STATE_HOME, and no home.",
          advice: "Set XDG_STATE_HOME, or each run chooses anew.")
      }
      if diagnosis.failure == nil, !(choice.storage is any ReadOnlyStorage), !made.isRemembered,
        choice.remembered == nil, let obstacle = memory.obstacle()
      {
        diagnosis.add("memory", obstacle)
      }
    } catch {
      if error.code == .canceled { throw error }
      for member in examined { diagnosis.add(member) }
      diagnosis.add("choice", error)
    }
    return diagnosis
  }

  /// Those that could be used by now.
  private func appeared(
    before index: Int, of examined: [StorageDiagnosis]
  ) -> [StorageDiagnosis] {
    zip(storages, examined).prefix(index)
      .filter { !($0.0 is any ReadOnlyStorage) && $0.1.isThere }.map(\.1)
  }

  private func add(_ choice: Choice, to diagnosis: inout StorageDiagnosis) {
    if !choice.appeared.isEmpty {
      let others = choice.appeared.map(\.storage).joined(separator: " and ")
      return diagnosis.add(
        "choice", "\(choice.storage.backendName) is in use, and \(others) could be.",
        advice: howToUseAnother)
    }
    let isSettled = choice.remembered == choice.name || choice.passedOver.isEmpty
    diagnosis.add(
      "choice", "\(choice).", advice: isSettled ? nil : "If you want another, see to what it lacks."
    )
  }
}
