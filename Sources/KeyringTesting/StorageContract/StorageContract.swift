public import KeyringStorage
public import Testing

/// The rules that every storage obeys, one case each.
///
/// Put a storage of your own through all of them:
///
/// ```swift
/// @Test(arguments: StorageContract.allCases)
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

  /// The number of the rule that the case belongs to.
  public var rule: Int {
    switch self {
    case .missingIsEmpty, .keysAreReadAtOnce, .secretsAreReadAlone, .undecodableIsNotMissing,
      .lockedIsNotMissing, .lockedItemsAreListed:
      1
    case .savingReplacesOne, .addRefusesPresent, .updateRefusesAbsent, .keysNeverCollide,
      .invalidArgumentsAreRefused, .internetPasswordsNeverCollide, .accessGroupsAreApart,
      .typedSavingKeepsTheMode, .collectionsAreApart:
      2
    case .credentialsAreNeverMixed, .newLoginLeavesOneItem: 3
    case .bytesComeBack, .valuesComeBack, .emptyIsNotMissing, .textIsNotNormalized,
      .byteOrderMarksAreKept:
      4
    case .removingAbsentSaysZero, .removingLockedFails: 5
    case .removingServiceLeavesOthers, .removingEverythingIsRefused: 6
    case .metadataReadsBack, .labelChangesAlone, .attributesAreSearchable, .queriesNarrowDown,
      .commentsAndLocksAreMetadata, .newestComesFirst:
      7
    case .secretsAreNotShown: 8
    case .threadsLoseNothing, .lockingLosesNothing: 9
    case .canceledCallsAreNotMade: 10
    case .changesAreReportedOnce, .endedObservationsAreSilent: 11
    case .absentMeansUnlocked, .addingNeverReplaces: 12
    }
  }

  /// Whether the case locks the storage, and so applies to a `LockableStorage` only.
  public var needsLocking: Bool {
    [
      .lockedIsNotMissing, .lockedItemsAreListed, .removingLockedFails, .lockingLosesNothing,
      .absentMeansUnlocked, .addingNeverReplaces,
    ].contains(self)
  }

  /// Whether the case makes and deletes a collection, and so applies to a `CollectionStorage` only.
  public var needsCollections: Bool { self == .collectionsAreApart }

  /// Whether the case observes the storage, and so applies to an `ObservableStorage` only.
  public var needsObservation: Bool {
    self == .changesAreReportedOnce || self == .endedObservationsAreSilent
  }

  /// Puts a storage through the case.
  ///
  /// - Parameters:
  ///   - storage: The storage; the cases that lock it (``needsLocking``) want a `LockableStorage`
  ///     that nobody else uses meanwhile.
  ///   - unlock: Unlocks the storage again, if that is not to be left to its own `unlock()`.
  /// - Throws: A ``ContractViolation``, also where the storage threw an error of its own that the
  ///   rule has no place for; or what `unlock` threw.
  public func verify(
    _ storage: any SecureStorage,
    unlock: @Sendable (any LockableStorage) throws -> Void = { try $0.unlock() }
  ) throws {
    let trial = ContractTrial(self, storage)
    do {
      let outcome = Result { try check(trial, unlock) }
      let cleanUp = Result { try trial.removeEverything() }
      try outcome.get()
      try cleanUp.get()
    } catch let error as SecureStorageError {
      throw trial.violation("the storage threw an error that was not expected: \(error)")
    }
  }

  private func check(
    _ trial: ContractTrial, _ unlock: @Sendable (any LockableStorage) throws -> Void
  ) throws {
    switch self {
    case .missingIsEmpty: try trial.missingIsEmpty()
    case .keysAreReadAtOnce: try trial.keysAreReadAtOnce()
    case .secretsAreReadAlone: try trial.secretsAreReadAlone()
    case .undecodableIsNotMissing: try trial.undecodableIsNotMissing()
    case .lockedIsNotMissing: try trial.lockedIsNotMissing(unlock)
    case .lockedItemsAreListed: try trial.lockedItemsAreListed(unlock)
    case .internetPasswordsNeverCollide: try trial.internetPasswordsNeverCollide()
    case .accessGroupsAreApart: try trial.accessGroupsAreApart()
    case .typedSavingKeepsTheMode: try trial.typedSavingKeepsTheMode()
    case .collectionsAreApart: try trial.collectionsAreApart()
    case .valuesComeBack: try trial.valuesComeBack()
    case .queriesNarrowDown: try trial.queriesNarrowDown()
    case .commentsAndLocksAreMetadata: try trial.commentsAndLocksAreMetadata()
    case .canceledCallsAreNotMade: try trial.canceledCallsAreNotMade()
    case .changesAreReportedOnce: try trial.changesAreReportedOnce()
    case .endedObservationsAreSilent: try trial.endedObservationsAreSilent()
    case .savingReplacesOne: try trial.savingReplacesOne()
    case .addRefusesPresent: try trial.addRefusesPresent()
    case .updateRefusesAbsent: try trial.updateRefusesAbsent()
    case .keysNeverCollide: try trial.keysNeverCollide()
    case .invalidArgumentsAreRefused: try trial.invalidArgumentsAreRefused()
    case .credentialsAreNeverMixed: try trial.credentialsAreNeverMixed()
    case .newLoginLeavesOneItem: try trial.newLoginLeavesOneItem()
    case .bytesComeBack: try trial.bytesComeBack()
    case .emptyIsNotMissing: try trial.emptyIsNotMissing()
    case .textIsNotNormalized: try trial.textIsNotNormalized()
    case .byteOrderMarksAreKept: try trial.byteOrderMarksAreKept()
    case .removingAbsentSaysZero: try trial.removingAbsentSaysZero()
    case .removingLockedFails: try trial.removingLockedFails(unlock)
    case .removingServiceLeavesOthers: try trial.removingServiceLeavesOthers()
    case .removingEverythingIsRefused: try trial.removingEverythingIsRefused()
    case .metadataReadsBack: try trial.metadataReadsBack()
    case .labelChangesAlone: try trial.labelChangesAlone()
    case .attributesAreSearchable: try trial.attributesAreSearchable()
    case .newestComesFirst: try trial.newestComesFirst()
    case .secretsAreNotShown: try trial.secretsAreNotShown()
    case .threadsLoseNothing: try trial.threadsLoseNothing()
    case .lockingLosesNothing: try withoutActuallyEscaping(unlock, do: trial.lockingLosesNothing)
    case .absentMeansUnlocked: try trial.absentMeansUnlocked(unlock)
    case .addingNeverReplaces: try withoutActuallyEscaping(unlock, do: trial.addingNeverReplaces)
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
