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
      let subject = TrialSubject(self, storage, unlock, restart)
      do {
        let outcome = Result { try definition.check(subject) }
        let cleanUp = Result { try subject.removeEverything() }
        try outcome.get()
        try cleanUp.get()
      } catch let error as SecureStorageError {
        throw subject.violation("the storage threw an error that was not expected: \(error)")
      }
    }
  }
}

// MARK: - The table of cases

extension StorageContract {
  private typealias Definition = (
    rule: Int, requirement: Requirement?, check: (TrialSubject) throws -> Void
  )

  private func row<Trial: ContractTrial>(
    _ number: Int, _ check: @escaping (Trial) -> () throws -> Void
  ) -> Definition {
    (number, Trial.requirement, { try check(Trial(subject: $0))() })
  }

  private var definition: Definition {
    switch self {
    case .missingIsEmpty: row(1, ReadingTrial.missingIsEmpty)
    case .keysAreReadAtOnce: row(1, ReadingTrial.keysAreReadAtOnce)
    case .secretsAreReadAlone: row(1, ReadingTrial.secretsAreReadAlone)
    case .undecodableIsNotMissing: row(1, ReadingTrial.undecodableIsNotMissing)
    case .lockedIsNotMissing: row(1, LockingTrial.lockedIsNotMissing)
    case .lockedItemsAreListed: row(1, LockingTrial.lockedItemsAreListed)
    case .savingReplacesOne: row(2, SavingTrial.savingReplacesOne)
    case .addRefusesPresent: row(2, SavingTrial.addRefusesPresent)
    case .updateRefusesAbsent: row(2, SavingTrial.updateRefusesAbsent)
    case .keysNeverCollide: row(2, KeyTrial.keysNeverCollide)
    case .invalidArgumentsAreRefused: row(2, RefusalTrial.invalidArgumentsAreRefused)
    case .internetPasswordsNeverCollide: row(2, KeyTrial.internetPasswordsNeverCollide)
    case .accessGroupsAreApart: row(2, KeyTrial.accessGroupsAreApart)
    case .typedSavingKeepsTheMode: row(2, SavingTrial.typedSavingKeepsTheMode)
    case .collectionsAreApart: row(2, CollectionTrial.collectionsAreApart)
    case .credentialsAreNeverMixed: row(3, SavingTrial.credentialsAreNeverMixed)
    case .newLoginLeavesOneItem: row(3, SavingTrial.newLoginLeavesOneItem)
    case .bytesComeBack: row(4, ContentTrial.bytesComeBack)
    case .valuesComeBack: row(4, ContentTrial.valuesComeBack)
    case .emptyIsNotMissing: row(4, ContentTrial.emptyIsNotMissing)
    case .textIsNotNormalized: row(4, ContentTrial.textIsNotNormalized)
    case .byteOrderMarksAreKept: row(4, ContentTrial.byteOrderMarksAreKept)
    case .removingAbsentSaysZero: row(5, RemovalTrial.removingAbsentSaysZero)
    case .removingLockedFails: row(5, LockingTrial.removingLockedFails)
    case .removingServiceLeavesOthers: row(6, RemovalTrial.removingServiceLeavesOthers)
    case .removingEverythingIsRefused: row(6, RemovalTrial.removingEverythingIsRefused)
    case .metadataReadsBack: row(7, MetadataTrial.metadataReadsBack)
    case .labelChangesAlone: row(7, MetadataTrial.labelChangesAlone)
    case .attributesAreSearchable: row(7, SearchTrial.attributesAreSearchable)
    case .queriesNarrowDown: row(7, SearchTrial.queriesNarrowDown)
    case .commentsAndLocksAreMetadata: row(7, MetadataTrial.commentsAndLocksAreMetadata)
    case .newestComesFirst: row(7, MetadataTrial.newestComesFirst)
    case .limitedQueriesAreTheBeginning: row(7, SearchTrial.limitedQueriesAreTheBeginning)
    case .secretsAreNotShown: row(8, RedactionTrial.secretsAreNotShown)
    case .threadsLoseNothing: row(9, ThreadTrial.threadsLoseNothing)
    case .newValuesAreShared: row(9, ThreadTrial.newValuesAreShared)
    case .lockingLosesNothing: row(9, LockingTrial.lockingLosesNothing)
    case .bothFormsAgree: row(9, ReadingTrial.bothFormsAgree)
    case .canceledCallsAreNotMade: row(10, CallTrial.canceledCallsAreNotMade)
    case .progressEndsWithItsQuery: row(10, CallTrial.progressEndsWithItsQuery)
    case .changesAreReportedOnce: row(11, ObservationTrial.changesAreReportedOnce)
    case .endedObservationsAreSilent: row(11, ObservationTrial.endedObservationsAreSilent)
    case .observersMayUseTheStorage: row(11, ObservationTrial.observersMayUseTheStorage)
    case .nobodyWaitsForObservers: row(11, ObservationTrial.nobodyWaitsForObservers)
    case .absentMeansUnlocked: row(12, LockingTrial.absentMeansUnlocked)
    case .addingNeverReplaces: row(12, LockingTrial.addingNeverReplaces)
    case .newItemsAreDurable: row(13, DurabilityTrial.newItemsAreDurable)
    case .changesAreDurable: row(13, DurabilityTrial.changesAreDurable)
    case .removalsAreDurable: row(13, DurabilityTrial.removalsAreDurable)
    case .itemsOfAnyShapeAreListed: row(15, KeyTrial.itemsOfAnyShapeAreListed)
    case .updatesTakeTurns: row(16, TurnTrial.updatesTakeTurns)
    case .plainWritesWin: row(16, TurnTrial.plainWritesWin)
    case .endedTurnsLetOthersGo: row(16, TurnTrial.endedTurnsLetOthersGo)
    case .callsReadOneVersion: row(17, ReadingTrial.callsReadOneVersion)
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
