// SPDX-License-Identifier: Apache-2.0

internal import KeyringStorage

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
  /// Updating an absent item is refused, and leaves it absent.
  case updateRefusesAbsent
  /// Keys that differ in their kind, in any part or in their schema leave each other's items alone.
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
  /// A label, a kind, and times narrow a search, which is case-sensitive by default.
  case queriesNarrowDown
  /// A comment is stored and changes alone, and an item reports whether it's locked.
  case commentsAndLocksAreMetadata
  /// Items are returned newest first.
  case newestComesFirst
  /// A query with a limit returns the first items of the same query without one.
  case limitedQueriesAreTheBeginning

  // Rule 8: no secret is shown.
  /// Items, values, and the storage hide a secret, however they're printed.
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
  /// A query reports its progress only while it runs.
  case progressEndsWithItsQuery

  // Rule 11: observers get each change once, with its kind, and nobody waits for them.
  /// Exactly the creations, replacements, and removals are reported, once each.
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
  /// A slow observer delays no read, write or other observer, and is notified of the changes in their order
  /// afterwards.
  ///
  /// Requires an ``/KeyringStorage/ObservableStorage``.
  case nobodyWaitsForObservers

  // Rule 12: an item is absent only if an unlocked storage was searched for it.
  /// A locked storage never reports an item as absent.
  ///
  /// Requires a ``/KeyringStorage/LockableStorage``.
  case absentMeansUnlocked
  /// An item that appears while an addition waits for the user stays as it is.
  ///
  /// Requires a ``/KeyringStorage/LockableStorage``.
  case addingNeverReplaces

  // Rule 13: what was acknowledged is there after the backend has restarted.
  /// A new item is complete after a restart, as often as its durability promises.
  ///
  /// Requires a way to restart the backend of any storage but a
  /// ``/KeyringStorage/StorageDurability/temporary`` one.
  case newItemsAreDurable
  /// A changed value, label, attribute, expiry, or login is there after a restart.
  ///
  /// Requires a way to restart the backend of any storage but a
  /// ``/KeyringStorage/StorageDurability/temporary`` one.
  case changesAreDurable
  /// A removed item stays absent after a restart, and no other item is lost with it.
  ///
  /// Requires a way to restart the backend of any storage but a
  /// ``/KeyringStorage/StorageDurability/temporary`` one.
  case removalsAreDurable

  // Rule 15: an item that says more about itself is another item, and is listed.
  /// Items with parts of any name are listed under their keys, and a removal removes exactly the listed ones.
  case itemsOfAnyShapeAreListed

  // Rule 16: updates take turns, and those who take none win.
  /// Threads and tasks that update a value at the same moment do so one after another.
  case updatesTakeTurns
  /// A plain write or a removal while an update runs is noticed, and never undone.
  case plainWritesWin
  /// An update that throws or is cancelled, and one that waits for too long, let the others go on.
  case endedTurnsLetOthersGo

  // Rule 17: what one call reads is of one moment, where the storage promises it.
  /// A call that reads several items finds all of them as they were at one moment.
  ///
  /// It holds for a storage whose `readsOneVersion` is `true`.
  case callsReadOneVersion

  /// A capability that some storages have, or a part that some tests have.
  package enum Requirement { case locking, collections, observation, restart }

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
}
