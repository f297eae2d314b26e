public import KeyringStorage
public import Testing

/// The rules that every storage obeys, one case each.
///
/// Put a storage of your own through all of them:
///
/// ```swift
/// @Test(arguments: StorageContract.cases(for: MyStorage.self))
/// func contract(rule: StorageContract) throws {
///   try rule.verify(MyStorage())
/// }
/// ```
///
/// Each case stores items of a service with a random name, and removes them again, so that it may
/// run on a storage that holds other things.
public enum StorageContract: String, CaseIterable, Sendable {
  // Rule 1: a missing item is nil; any other reason for not having it is an error.
  /// A missing item is `nil`, an empty result, or `false`.
  case missingIsEmpty
  /// Many keys at once find what each finds alone.
  case keysAreReadAtOnce
  /// A secret that is read alone is that of its item.
  case secretsAreReadAlone
  /// An item that is not what was asked for is an error, and stays as it is.
  case undecodableIsNotMissing
  /// A locked item is an error, never a missing one.
  case lockedIsNotMissing

  /// Locked items can be listed without unlocking them.
  case lockedItemsAreListed

  // Rule 2: saving replaces exactly the item with that key.
  /// Saving again leaves one item, with the new value.
  case savingReplacesOne
  /// Adding refuses an item that is there, and leaves it.
  case addRefusesPresent
  /// Updating refuses an item that is not there, and makes none.
  case updateRefusesAbsent
  /// Keys that differ in kind or in any part never touch each other's items.
  case keysNeverCollide
  /// What cannot be kept is refused before anything is stored.
  case invalidArgumentsAreRefused

  /// Internet passwords with any combination of parts are items of their own.
  case internetPasswordsNeverCollide
  /// Access groups, and items without one, are apart.
  case accessGroupsAreApart
  /// Typed values are added, updated and replaced as asked.
  case typedSavingKeepsTheMode
  /// Collections have items of their own. Needs a ``/KeyringStorage/CollectionStorage``.
  case collectionsAreApart

  // Rule 3: saving is atomic.
  /// While a credential is rewritten, every reader finds a whole pair.
  case credentialsAreNeverMixed
  /// A new login leaves one item, under the same label.
  case newLoginLeavesOneItem

  // Rule 4: bytes come back as they went in.
  /// NUL, bytes that are not UTF-8, 1 MiB.
  case bytesComeBack
  /// Encoded values, `Data` and bytes, and errors for what cannot be encoded or decoded.
  case valuesComeBack
  /// An empty secret is there.
  case emptyIsNotMissing
  /// Text is not normalised, in secrets, keys or logins.
  case textIsNotNormalized
  /// A byte order mark at the start of an account or a login is part of it.
  case byteOrderMarksAreKept

  // Rule 5: removing something absent is no error; something locked is never removed quietly.
  /// Removing what is not there says 0.
  case removingAbsentSaysZero
  /// Removing something locked is an error, and it stays.
  case removingLockedFails

  // Rule 6: removing everything of a service leaves every other service alone.
  /// Removing a service's items leaves other services' items.
  case removingServiceLeavesOthers
  /// A removal that names nothing is refused.
  case removingEverythingIsRefused

  // Rule 7: metadata reads back.
  /// Label, attributes, created and modified read back and survive a new secret.
  case metadataReadsBack
  /// A label changes without the secret.
  case labelChangesAlone
  /// Items are found by their attributes.
  case attributesAreSearchable
  /// Label, kind and times narrow a search; case matters unless told otherwise.
  case queriesNarrowDown
  /// A comment is kept and changes alone; an item tells whether it is locked.
  case commentsAndLocksAreMetadata
  /// Items come newest first.
  case newestComesFirst
  /// A query with a limit finds what the same query finds first without one.
  case limitedQueriesAreTheBeginning

  // Rule 8: no secret is shown.
  /// Neither items nor values nor the storage show a secret, however they are printed.
  case secretsAreNotShown

  // Rule 9: any number of threads may use a storage at once.
  /// What several threads write at once is all there, once.
  case threadsLoseNothing
  /// While somebody locks and unlocks, an item is read and written, or that is an error.
  case lockingLosesNothing

  // Rule 10: every call ends.
  /// A call that is cancelled before it begins does nothing.
  case canceledCallsAreNotMade
  /// A query tells its progress while it runs, and never afterwards.
  case progressEndsWithItsQuery

  // Rule 11: a change is reported once, for what it is, to those who observe.
  /// What is created, replaced and removed is reported so, once, and nothing else is. Needs an
  /// ``/KeyringStorage/ObservableStorage``.
  case changesAreReportedOnce
  /// Who has ended an observation hears no more, and others do. Needs an
  /// ``/KeyringStorage/ObservableStorage``.
  case endedObservationsAreSilent

  // Rule 12: absent means looked at, unlocked.
  /// In a locked storage nothing is known to be absent. Needs a ``/KeyringStorage/LockableStorage``.
  case absentMeansUnlocked
  /// An item that appears while an addition waits for the user is not replaced. Needs a
  /// ``/KeyringStorage/LockableStorage``.
  case addingNeverReplaces

  /// Returns the cases that apply to a type of storage.
  ///
  /// The cases that lock a storage apply to a `LockableStorage`, the one that makes collections to a
  /// `CollectionStorage`, and those that observe changes to an `ObservableStorage`.
  ///
  /// - Parameter type: The type of the storage.
  /// - Returns: The cases, for `@Test(arguments:)` or a loop.
  public static func cases(for type: any SecureStorage.Type) -> [StorageContract] {
    allCases.filter { rule in
      switch rule.requirement {
      case .locking: type is any LockableStorage.Type
      case .collections: type is any CollectionStorage.Type
      case .observation: type is any ObservableStorage.Type
      case nil: true
      }
    }
  }

  /// The number of the rule that the case belongs to.
  public var rule: Int { definition.rule }

  /// A capability that not every storage has.
  package enum Requirement { case locking, collections, observation }

  /// The capability that the case needs, if any.
  package var requirement: Requirement? { definition.requirement }

  /// Puts a storage through the case.
  ///
  /// - Parameters:
  ///   - storage: The storage; a case that locks it needs a `LockableStorage` that nothing else uses
  ///     meanwhile.
  ///   - unlock: Unlocks the storage again, if that is not to be left to its own `unlock()`.
  /// - Throws: A ``ContractViolation``, also where the storage threw an error of its own that the
  ///   rule has no place for; or what `unlock` threw.
  public func verify(
    _ storage: any SecureStorage,
    unlock: @Sendable (any LockableStorage) throws -> Void = { try $0.unlock() }
  ) throws {
    let trial = ContractTrial(self, storage)
    do {
      let outcome = Result {
        try withoutActuallyEscaping(unlock) { try definition.check(trial, $0) }
      }
      let cleanUp = Result { try trial.removeEverything() }
      try outcome.get()
      try cleanUp.get()
    } catch let error as SecureStorageError {
      throw trial.violation("the storage threw an error that was not expected: \(error)")
    }
  }
}

// MARK: - The table of cases

extension StorageContract {
  private struct Definition {
    typealias Unlock = @Sendable (any LockableStorage) throws -> Void

    let rule: Int
    let requirement: Requirement?
    let check: (ContractTrial, @escaping Unlock) throws -> Void

    init(
      _ rule: Int, needs requirement: Requirement? = nil,
      _ check: @escaping (ContractTrial, @escaping Unlock) throws -> Void
    ) {
      self.rule = rule
      self.requirement = requirement
      self.check = check
    }
  }

  private var definition: Definition {
    switch self {
    case .missingIsEmpty: Definition(1) { trial, _ in try trial.missingIsEmpty() }
    case .keysAreReadAtOnce: Definition(1) { trial, _ in try trial.keysAreReadAtOnce() }
    case .secretsAreReadAlone: Definition(1) { trial, _ in try trial.secretsAreReadAlone() }
    case .undecodableIsNotMissing: Definition(1) { trial, _ in try trial.undecodableIsNotMissing() }
    case .lockedIsNotMissing: Definition(1, needs: .locking) { try $0.lockedIsNotMissing($1) }
    case .lockedItemsAreListed: Definition(1, needs: .locking) { try $0.lockedItemsAreListed($1) }
    case .savingReplacesOne: Definition(2) { trial, _ in try trial.savingReplacesOne() }
    case .addRefusesPresent: Definition(2) { trial, _ in try trial.addRefusesPresent() }
    case .updateRefusesAbsent: Definition(2) { trial, _ in try trial.updateRefusesAbsent() }
    case .keysNeverCollide: Definition(2) { trial, _ in try trial.keysNeverCollide() }
    case .invalidArgumentsAreRefused: Definition(2) { trial, _ in try trial.invalidArgumentsAreRefused() }
    case .internetPasswordsNeverCollide: Definition(2) { trial, _ in try trial.internetPasswordsNeverCollide() }
    case .accessGroupsAreApart: Definition(2) { trial, _ in try trial.accessGroupsAreApart() }
    case .typedSavingKeepsTheMode: Definition(2) { trial, _ in try trial.typedSavingKeepsTheMode() }
    case .collectionsAreApart: Definition(2, needs: .collections) { trial, _ in try trial.collectionsAreApart() }
    case .credentialsAreNeverMixed: Definition(3) { trial, _ in try trial.credentialsAreNeverMixed() }
    case .newLoginLeavesOneItem: Definition(3) { trial, _ in try trial.newLoginLeavesOneItem() }
    case .bytesComeBack: Definition(4) { trial, _ in try trial.bytesComeBack() }
    case .valuesComeBack: Definition(4) { trial, _ in try trial.valuesComeBack() }
    case .emptyIsNotMissing: Definition(4) { trial, _ in try trial.emptyIsNotMissing() }
    case .textIsNotNormalized: Definition(4) { trial, _ in try trial.textIsNotNormalized() }
    case .byteOrderMarksAreKept: Definition(4) { trial, _ in try trial.byteOrderMarksAreKept() }
    case .removingAbsentSaysZero: Definition(5) { trial, _ in try trial.removingAbsentSaysZero() }
    case .removingLockedFails: Definition(5, needs: .locking) { try $0.removingLockedFails($1) }
    case .removingServiceLeavesOthers: Definition(6) { trial, _ in try trial.removingServiceLeavesOthers() }
    case .removingEverythingIsRefused: Definition(6) { trial, _ in try trial.removingEverythingIsRefused() }
    case .metadataReadsBack: Definition(7) { trial, _ in try trial.metadataReadsBack() }
    case .labelChangesAlone: Definition(7) { trial, _ in try trial.labelChangesAlone() }
    case .attributesAreSearchable: Definition(7) { trial, _ in try trial.attributesAreSearchable() }
    case .queriesNarrowDown: Definition(7) { trial, _ in try trial.queriesNarrowDown() }
    case .commentsAndLocksAreMetadata: Definition(7) { trial, _ in try trial.commentsAndLocksAreMetadata() }
    case .newestComesFirst: Definition(7) { trial, _ in try trial.newestComesFirst() }
    case .limitedQueriesAreTheBeginning: Definition(7) { trial, _ in try trial.limitedQueriesAreTheBeginning() }
    case .secretsAreNotShown: Definition(8) { trial, _ in try trial.secretsAreNotShown() }
    case .threadsLoseNothing: Definition(9) { trial, _ in try trial.threadsLoseNothing() }
    case .lockingLosesNothing: Definition(9, needs: .locking) { try $0.lockingLosesNothing($1) }
    case .canceledCallsAreNotMade: Definition(10) { trial, _ in try trial.canceledCallsAreNotMade() }
    case .progressEndsWithItsQuery: Definition(10) { trial, _ in try trial.progressEndsWithItsQuery() }
    case .changesAreReportedOnce: Definition(11, needs: .observation) { trial, _ in try trial.changesAreReportedOnce() }
    case .endedObservationsAreSilent: Definition(11, needs: .observation) { trial, _ in try trial.endedObservationsAreSilent() }
    case .absentMeansUnlocked: Definition(12, needs: .locking) { try $0.absentMeansUnlocked($1) }
    case .addingNeverReplaces: Definition(12, needs: .locking) { try $0.addingNeverReplaces($1) }
    }
  }
}

extension StorageContract: CustomTestStringConvertible {
  /// The rule and the case, as test output shows them.
  public var testDescription: String { "rule \(rule): \(rawValue)" }
}

/// A storage that does not obey a rule.
public struct ContractViolation: Error, CustomStringConvertible {
  /// The case that failed.
  public let rule: StorageContract
  /// What the storage did.
  public let finding: String

  /// The case and what the storage did, in one line.
  public var description: String { "\(rule.testDescription): \(finding)" }
}
