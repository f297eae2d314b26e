// SPDX-License-Identifier: Apache-2.0

public import KeyringStorage
public import Testing

extension StorageContract {
  /// Returns the cases that apply to a type of storage.
  ///
  /// The cases that lock a storage apply to a `LockableStorage`, the case that creates collections applies
  /// to a `CollectionStorage`, and the cases that observe changes apply to an `ObservableStorage`.
  ///
  /// ```swift
  /// @Test(arguments: StorageContract.cases(for: MyStorage.self))
  /// func contract(rule: StorageContract) throws { try rule.verify(MyStorage()) }
  /// ```
  ///
  /// - Parameter type: The type of the storage.
  /// - Returns: The cases, for `@Test(arguments:)` or a loop.
  public static func cases(for type: any SecureStorage.Type) -> [StorageContract] {
    allCases.filter { rule in
      switch rule.requirement {
      case .locking: type is any LockableStorage.Type
      case .collections: type is any CollectionStorage.Type
      case .observation: type is any ObservableStorage.Type
      case .restart, nil: true
      }
    }
  }

  /// The number of the rule that the case belongs to.
  public var rule: Int { definition.rule }

  /// The capability that the case requires, if any.
  package var requirement: Requirement? { definition.requirement }

  /// Verifies that a storage complies with the case.
  ///
  /// ```swift
  /// try rule.verify(MyStorage(at: file), restart: { _ in MyStorage(at: file) })
  /// ```
  ///
  /// - Parameters:
  ///   - storage: The storage. A case that locks it requires a `LockableStorage` that nothing else uses at
  ///     the same time.
  ///   - unlock: The closure that unlocks the storage again. By default, it calls the storage's `unlock()`.
  ///   - restart: The closure that ends the backend in the given way and starts it again with what it has on
  ///     disk. It returns a storage that has nothing left in memory, to which the case then goes on. The
  ///     closure is asked for the ends that the storage's `durability` includes. The cases of rule 13 need it
  ///     for any storage but a temporary one.
  /// - Throws: A ``ContractViolation``, also for an error of the storage that the rule forbids, or the error
  ///   of `unlock` or `restart`.
  public func verify(
    _ storage: any SecureStorage,
    unlock: @Sendable (any LockableStorage) throws -> Void = { try $0.unlock() },
    restart: (@Sendable (Ending) throws -> any SecureStorage)? = nil
  ) throws {
    try withoutActuallyEscaping(unlock) { unlock in
      let trial = ContractTrial(self, storage, unlock, restart)
      do {
        let outcome = Result { try definition.check(trial)() }
        let cleanUp = Result { try trial.removeEverything() }
        try outcome.get()
        try cleanUp.get()
      } catch let error as SecureStorageError {
        throw trial.violation("the storage threw an error that was not expected: \(error)")
      }
    }
  }
}

// MARK: - The table of cases

extension StorageContract {
  private typealias Definition = (
    rule: Int, requirement: Requirement?, check: (ContractTrial) -> () throws -> Void
  )

  private var definition: Definition {
    switch self {
    case .missingIsEmpty: (1, nil, ContractTrial.missingIsEmpty)
    case .keysAreReadAtOnce: (1, nil, ContractTrial.keysAreReadAtOnce)
    case .secretsAreReadAlone: (1, nil, ContractTrial.secretsAreReadAlone)
    case .undecodableIsNotMissing: (1, nil, ContractTrial.undecodableIsNotMissing)
    case .lockedIsNotMissing: (1, .locking, ContractTrial.lockedIsNotMissing)
    case .lockedItemsAreListed: (1, .locking, ContractTrial.lockedItemsAreListed)
    case .savingReplacesOne: (2, nil, ContractTrial.savingReplacesOne)
    case .addRefusesPresent: (2, nil, ContractTrial.addRefusesPresent)
    case .updateRefusesAbsent: (2, nil, ContractTrial.updateRefusesAbsent)
    case .keysNeverCollide: (2, nil, ContractTrial.keysNeverCollide)
    case .invalidArgumentsAreRefused: (2, nil, ContractTrial.invalidArgumentsAreRefused)
    case .internetPasswordsNeverCollide: (2, nil, ContractTrial.internetPasswordsNeverCollide)
    case .accessGroupsAreApart: (2, nil, ContractTrial.accessGroupsAreApart)
    case .typedSavingKeepsTheMode: (2, nil, ContractTrial.typedSavingKeepsTheMode)
    case .collectionsAreApart: (2, .collections, ContractTrial.collectionsAreApart)
    case .credentialsAreNeverMixed: (3, nil, ContractTrial.credentialsAreNeverMixed)
    case .newLoginLeavesOneItem: (3, nil, ContractTrial.newLoginLeavesOneItem)
    case .bytesComeBack: (4, nil, ContractTrial.bytesComeBack)
    case .valuesComeBack: (4, nil, ContractTrial.valuesComeBack)
    case .emptyIsNotMissing: (4, nil, ContractTrial.emptyIsNotMissing)
    case .textIsNotNormalized: (4, nil, ContractTrial.textIsNotNormalized)
    case .byteOrderMarksAreKept: (4, nil, ContractTrial.byteOrderMarksAreKept)
    case .removingAbsentSaysZero: (5, nil, ContractTrial.removingAbsentSaysZero)
    case .removingLockedFails: (5, .locking, ContractTrial.removingLockedFails)
    case .removingServiceLeavesOthers: (6, nil, ContractTrial.removingServiceLeavesOthers)
    case .removingEverythingIsRefused: (6, nil, ContractTrial.removingEverythingIsRefused)
    case .metadataReadsBack: (7, nil, ContractTrial.metadataReadsBack)
    case .labelChangesAlone: (7, nil, ContractTrial.labelChangesAlone)
    case .attributesAreSearchable: (7, nil, ContractTrial.attributesAreSearchable)
    case .queriesNarrowDown: (7, nil, ContractTrial.queriesNarrowDown)
    case .commentsAndLocksAreMetadata: (7, nil, ContractTrial.commentsAndLocksAreMetadata)
    case .newestComesFirst: (7, nil, ContractTrial.newestComesFirst)
    case .limitedQueriesAreTheBeginning: (7, nil, ContractTrial.limitedQueriesAreTheBeginning)
    case .secretsAreNotShown: (8, nil, ContractTrial.secretsAreNotShown)
    case .threadsLoseNothing: (9, nil, ContractTrial.threadsLoseNothing)
    case .newValuesAreShared: (9, nil, ContractTrial.newValuesAreShared)
    case .lockingLosesNothing: (9, .locking, ContractTrial.lockingLosesNothing)
    case .bothFormsAgree: (9, nil, ContractTrial.bothFormsAgree)
    case .canceledCallsAreNotMade: (10, nil, ContractTrial.canceledCallsAreNotMade)
    case .progressEndsWithItsQuery: (10, nil, ContractTrial.progressEndsWithItsQuery)
    case .changesAreReportedOnce: (11, .observation, ContractTrial.changesAreReportedOnce)
    case .endedObservationsAreSilent: (11, .observation, ContractTrial.endedObservationsAreSilent)
    case .observersMayUseTheStorage: (11, .observation, ContractTrial.observersMayUseTheStorage)
    case .nobodyWaitsForObservers: (11, .observation, ContractTrial.nobodyWaitsForObservers)
    case .absentMeansUnlocked: (12, .locking, ContractTrial.absentMeansUnlocked)
    case .addingNeverReplaces: (12, .locking, ContractTrial.addingNeverReplaces)
    case .newItemsAreDurable: (13, .restart, ContractTrial.newItemsAreDurable)
    case .changesAreDurable: (13, .restart, ContractTrial.changesAreDurable)
    case .removalsAreDurable: (13, .restart, ContractTrial.removalsAreDurable)
    case .itemsOfAnyShapeAreListed: (15, nil, ContractTrial.itemsOfAnyShapeAreListed)
    case .updatesTakeTurns: (16, nil, ContractTrial.updatesTakeTurns)
    case .plainWritesWin: (16, nil, ContractTrial.plainWritesWin)
    case .endedTurnsLetOthersGo: (16, nil, ContractTrial.endedTurnsLetOthersGo)
    case .callsReadOneVersion: (17, nil, ContractTrial.callsReadOneVersion)
    }
  }
}

extension StorageContract: CustomTestStringConvertible {
  /// The rule and the case in test output.
  public var testDescription: String { "rule \(rule): \(rawValue)" }
}

extension ContractViolation: CustomStringConvertible {
  /// The case and the storage's behavior on one line.
  public var description: String { "\(rule.testDescription): \(finding)" }
}
