internal import Synchronization

extension FirstAvailable {
  /// The storage that was chosen, or is now.
  func choice(
    for operation: SecureStorageError.Operation
  ) async throws(SecureStorageError) -> Choice {
    if let choice = decision.state.withLock({ $0.choice }) { return choice }
    let found = try await select(memory.read(operation), operation) {
      (index) async throws(SecureStorageError) in
      do throws(SecureStorageError) {
        return try await storages[index].diagnose()
      } catch {
        var error = error
        (error.operation, error.backend) = (operation, backendName)
        throw error
      }
    }
    // Of threads that have asked at the same time, the first decides for all.
    let (choice, mustTell) = decision.state.withLock { state in
      let choice = state.choice ?? found
      defer { state.isTold = true }
      state.choice = choice
      state.isRemembered = choice.remembered == choice.name
      return (choice, !choice.appeared.isEmpty && !state.isTold)
    }
    if mustTell { tell(choice) }
    return choice
  }

  /// The storage that was chosen, once it is remembered, so that what is stored is found again.
  func choiceToWrite(
    for operation: SecureStorageError.Operation
  ) async throws(SecureStorageError) -> Choice {
    let choice = try await choice(for: operation)
    // Nothing is stored in what can only be read.
    if choice.storage is any ReadOnlyStorage || decision.state.withLock({ $0.isRemembered }) {
      return choice
    }
    let remembered = try memory.remember(RememberedChoice(name: choice.name), operation)
    if remembered.name == choice.name {
      decision.state.withLock { $0.isRemembered = true }
      return choice
    }
    // Another process has written first, and elsewhere. This one has written nothing, and joins it.
    decision.state.withLock { $0 = .init() }
    return try await self.choice(for: operation)
  }

  /// Selects a storage.
  ///
  /// - Parameters:
  ///   - remembered: What an earlier run has chosen.
  ///   - operation: What it is for.
  ///   - diagnose: Answers what is found out about the storage at an index.
  /// - Returns: The choice.
  /// - Throws: Why there is none.
  func select(
    _ remembered: RememberedChoice?, _ operation: SecureStorageError.Operation,
    _ diagnose: (Int) async throws(SecureStorageError) -> StorageDiagnosis
  ) async throws(SecureStorageError) -> Choice {
    let bound = try remembered.map { (choice) throws(SecureStorageError) in
      try index(of: choice, operation)
    }
    var passedOver: [StorageDiagnosis] = []
    var appeared: [StorageDiagnosis] = []
    for index in storages.indices {
      let isBefore = index < bound ?? 0 && !(storages[index] is any ReadOnlyStorage)
      if isBefore, remembered?.isForGood == true { continue }
      let diagnosis = try await diagnose(index)
      if isBefore {
        if diagnosis.isThere { appeared.append(diagnosis) } else { passedOver.append(diagnosis) }
      } else if diagnosis.isThere {
        return Choice(
          storage: storages[index], index: index, passedOver: passedOver, appeared: appeared,
          remembered: remembered?.name, name: names[index],
          isForGood: remembered?.isForGood ?? false)
      } else if diagnosis.isUnavailable {
        if index == bound { throw missing(diagnosis, operation) }
        passedOver.append(diagnosis)
      } else {
        var failure = diagnosis.failure ?? noStorage([diagnosis], operation)
        failure.operation = operation
        throw failure
      }
    }
    throw noStorage(passedOver, operation)
  }

  private func index(
    of remembered: RememberedChoice, _ operation: SecureStorageError.Operation
  ) throws(SecureStorageError) -> Int {
    if let index = names.firstIndex(of: remembered.name) { return index }
    throw SecureStorageError(
      .chosenStorageMissing, operation: operation, backend: remembered.name,
      message: """
        This program keeps its secrets in \(remembered.name), which is not among the storages that \
        it has now.
        """, advice: "Use the version of the program that has it. \(howToChooseAnew)")
  }

  private func missing(
    _ diagnosis: StorageDiagnosis, _ operation: SecureStorageError.Operation
  ) -> SecureStorageError {
    SecureStorageError(
      .chosenStorageMissing, operation: operation, backend: diagnosis.storage,
      message: """
        This program keeps its secrets in \(diagnosis.storage), which is not there. \
        \(diagnosis.failure?.message ?? "")
        """,
      advice: "\(diagnosis.failure?.advice ?? "") \(howToChooseAnew)",
      underlying: diagnosis.failure?.underlying)
  }

  private var howToChooseAnew: String {
    "Where it is to begin with another, and without these secrets, "
      + (memory.path.map { "remove \($0.inOneLine)." } ?? "forget the choice.")
  }

  private func noStorage(
    _ diagnoses: [StorageDiagnosis], _ operation: SecureStorageError.Operation
  ) -> SecureStorageError {
    let failures = diagnoses.compactMap { diagnosis in
      diagnosis.failure.map { (name: diagnosis.storage, failure: $0) }
    }
    let reasons = failures.map { "\($0.name): \($0.failure.message)" }
    let advice = failures.map { "\($0.name): \($0.failure.advice)" }
    return SecureStorageError(
      .noStorage, operation: operation, backend: "FirstAvailable",
      message: (["No storage can be used here."] + reasons).joined(separator: " "),
      advice: advice.isEmpty ? "Name at least one." : advice.joined(separator: " "))
  }

  // MARK: - Another storage that could be used

  private func tell(_ choice: Choice) {
    if let handler { return handler(choice) }
    StandardError.write("Secrets are in \(choice). \(howToUseAnother)".inOneLine + "\n")
  }

  /// What to do about a storage that could be used, and is not.
  var howToUseAnother: String {
    guard let path = memory.path else { return "Start the program anew to have it choose again." }
    return """
      To use another, move the secrets there, and remove \(path.inOneLine); to hear no more of it, \
      add the line "for good" to that file.
      """
  }
}
