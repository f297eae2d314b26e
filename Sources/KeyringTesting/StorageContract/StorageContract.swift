// SPDX-License-Identifier: Apache-2.0

public import KeyringStorage
public import Testing

/// The rules for every storage, with one or more cases for each rule.
///
/// A case uses items of a service with a random name, and removes them afterwards. Run all cases on a
/// storage that you've written; one in memory needs no `restart`:
///
/// ```swift
/// @Test(arguments: StorageContract.cases(for: MyStorage.self))
/// func contract(rule: StorageContract) throws {
///   let file = temporaryFile()
///   try rule.verify(MyStorage(at: file), restart: { _ in MyStorage(at: file) })
/// }
/// ```
public enum StorageContract: String, CaseIterable, Sendable {
  // Rule 1: a missing item is `nil`, and every other reason for not returning an item is an error.
  /// A missing item is `nil`, an empty result, or `false`.
  case missingIsEmpty
  /// A lookup of many keys finds the same items as a lookup of each key.
  case keysAreReadAtOnce
  /// A secret that is read alone is the secret of its item.
  case secretsAreReadAlone
  /// An item whose content isn't of the requested type is an error, and it's left unchanged.
  case undecodableIsNotMissing
  /// A locked item is an error, never a missing item.
  case lockedIsNotMissing

  /// Locked items can be listed without unlocking them.
  case lockedItemsAreListed

  // Rule 2: saving replaces exactly the item with the key.
  /// Saving again leaves one item, with the new value.
  case savingReplacesOne
  /// Adding an item that exists is refused and leaves the item unchanged.
  case addRefusesPresent
  /// Updating an item that doesn't exist is refused and creates none.
  case updateRefusesAbsent
  /// Keys that differ in their kind, in any part or in their schema never affect each other's items.
  case keysNeverCollide
  /// Invalid arguments are refused before anything is stored.
  case invalidArgumentsAreRefused

  /// Internet passwords with different combinations of parts are separate items.
  case internetPasswordsNeverCollide
  /// Items of different access groups, and items without one, are separate.
  case accessGroupsAreApart
  /// Typed values are added, updated, and replaced according to the save mode.
  case typedSavingKeepsTheMode
  /// Collections have separate items.
  ///
  /// Requires a ``/KeyringStorage/CollectionStorage``.
  case collectionsAreApart

  // Rule 3: saving is atomic.
  /// Every reader finds a complete pair while a credential is being rewritten.
  case credentialsAreNeverMixed
  /// A new login leaves one item under the same label.
  case newLoginLeavesOneItem

  // Rule 4: bytes read back unchanged.
  /// NUL, bytes that aren't UTF-8, and 1 MiB of data read back unchanged.
  case bytesComeBack
  /// Encoded values, `Data`, and bytes read back, and values that can't be encoded or decoded are errors.
  case valuesComeBack
  /// An item with an empty secret isn't missing.
  case emptyIsNotMissing
  /// Text isn't normalized in secrets, keys, or logins.
  case textIsNotNormalized
  /// A byte order mark at the start of an account or a login is part of it.
  case byteOrderMarksAreKept

  // Rule 5: removing an absent item isn't an error, and a locked item is never removed silently.
  /// Removing an absent item returns 0.
  case removingAbsentSaysZero
  /// Removing a locked item is an error, and the item stays.
  case removingLockedFails

  // Rule 6: removing all items of a service leaves the items of other services unchanged.
  /// Removing the items of a service leaves the items of other services.
  case removingServiceLeavesOthers
  /// A removal whose query names nothing is refused.
  case removingEverythingIsRefused

  // Rule 7: metadata reads back.
  /// The label, the attributes, and the times read back, and they survive a new secret.
  case metadataReadsBack
  /// A label can change without the secret.
  case labelChangesAlone
  /// Items can be found by their attributes.
  case attributesAreSearchable
  /// A label, a kind, and times narrow a search, which is case-sensitive unless the query says otherwise.
  case queriesNarrowDown
  /// A comment is stored and changes alone, and an item reports whether it's locked.
  case commentsAndLocksAreMetadata
  /// Items are returned newest first.
  case newestComesFirst
  /// A query with a limit returns the first items of the same query without one.
  case limitedQueriesAreTheBeginning

  // Rule 8: no secret is shown.
  /// Items, values, and the storage never show a secret, regardless of how they're printed.
  case secretsAreNotShown

  // Rule 9: any number of threads can use a storage at the same time.
  /// Items that several threads write at the same time are all stored, once each.
  case threadsLoseNothing
  /// Threads and tasks that read or store a value at the same moment all get the one that is stored.
  case newValuesAreShared
  /// Each read and write of an item succeeds or is an error while another thread locks and unlocks.
  case lockingLosesNothing
  /// The synchronous form of a read and of a diagnosis has the same result as the `async` form.
  case bothFormsAgree

  // Rule 10: every call ends.
  /// A call that is cancelled before it begins does nothing.
  case canceledCallsAreNotMade
  /// A query reports its progress while it runs and never afterwards.
  case progressEndsWithItsQuery

  // Rule 11: observers get each change once, with its kind, and nobody waits for them.
  /// Creations, replacements, and removals are reported once each, and nothing else is.
  ///
  /// Requires an ``/KeyringStorage/ObservableStorage``.
  case changesAreReportedOnce
  /// An observer that has ended its subscription gets no more changes, and the others still do.
  ///
  /// Requires an ``/KeyringStorage/ObservableStorage``.
  case endedObservationsAreSilent
  /// An observer reads and changes the storage, and the changes that it makes are reported afterwards.
  ///
  /// Requires an ``/KeyringStorage/ObservableStorage``.
  case observersMayUseTheStorage
  /// Reads, writes and other observers wait for no observer, which is notified of the changes in their order afterwards.
  ///
  /// Requires an ``/KeyringStorage/ObservableStorage``.
  case nobodyWaitsForObservers

  // Rule 12: an item is absent only if an unlocked storage was searched for it.
  /// A locked storage never reports an item as absent.
  ///
  /// Requires a ``/KeyringStorage/LockableStorage``.
  case absentMeansUnlocked
  /// An item that appears while an addition waits for the user isn't replaced.
  ///
  /// Requires a ``/KeyringStorage/LockableStorage``.
  case addingNeverReplaces

  // Rule 13: what was acknowledged is there after the backend has restarted.
  /// A new item is complete after a restart, as often as its durability promises.
  ///
  /// Requires a way to restart the backend, unless the storage is
  /// ``/KeyringStorage/StorageDurability/temporary``.
  case newItemsAreDurable
  /// A changed value, label, attribute, expiry, or login is there after a restart.
  ///
  /// Requires a way to restart the backend, unless the storage is
  /// ``/KeyringStorage/StorageDurability/temporary``.
  case changesAreDurable
  /// A removed item stays absent after a restart, and no other item is lost with it.
  ///
  /// Requires a way to restart the backend, unless the storage is
  /// ``/KeyringStorage/StorageDurability/temporary``.
  case removalsAreDurable

  // Rule 15: an item that says more about itself is another item, and is listed.
  /// Items with parts of any name are listed under their keys, and a removal removes exactly the listed ones.
  case itemsOfAnyShapeAreListed

  // Rule 16: what one call reads is of one moment, where the storage promises it.
  /// A call that reads several items finds all of them as they were at one moment.
  ///
  /// It holds for a storage whose `readsOneVersion` is `true`.
  case callsReadOneVersion

  /// Returns the cases that apply to a type of storage.
  ///
  /// The cases that lock a storage apply to a `LockableStorage`, the case that creates collections applies
  /// to a `CollectionStorage`, and the cases that observe changes apply to an `ObservableStorage`.
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

  /// A capability that not every storage has, or a part of a test that not every one has.
  package enum Requirement { case locking, collections, observation, restart }

  /// The capability that the case requires, if any.
  package var requirement: Requirement? { definition.requirement }

  /// An end of the backend of a storage.
  public enum Ending: Sendable, Hashable, CaseIterable {
    /// The backend is told to end, and has time to write what it has acknowledged.
    case orderly
    /// The backend ends at once, as after SIGKILL.
    case kill

    /// The promise that an acknowledged change survives this end.
    var promise: StorageDurability {
      switch self {
      case .orderly: .afterRestart
      case .kill: .afterKill
      }
    }
  }

  /// Verifies that a storage complies with the case.
  ///
  /// - Parameters:
  ///   - storage: The storage. A case that locks it requires a `LockableStorage` that nothing else uses at
  ///     the same time.
  ///   - unlock: The closure that unlocks the storage again. By default, it calls the storage's `unlock()`.
  ///   - restart: The closure that ends the backend in the given way and starts it again with what it has on
  ///     disk. It returns a storage that has nothing left in memory, to which the case then goes on. The
  ///     closure isn't asked for an end that the storage's `durability` doesn't include. Without it, the cases
  ///     of rule 13 fail, unless the storage is temporary.
  /// - Throws: A ``ContractViolation``, also if the storage throws an error that the rule doesn't allow, or
  ///   the error of `unlock` or `restart`.
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
    case .callsReadOneVersion: (16, nil, ContractTrial.callsReadOneVersion)
    }
  }
}

extension StorageContract: CustomTestStringConvertible {
  /// The rule and the case in test output.
  public var testDescription: String { "rule \(rule): \(rawValue)" }
}
