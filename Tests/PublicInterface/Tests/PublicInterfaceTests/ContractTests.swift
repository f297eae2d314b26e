// SPDX-License-Identifier: Apache-2.0

import Keyring
import KeyringStorage
import KeyringTesting
import Synchronization
import Testing

/// The contract as the author of another storage runs it.
@Suite struct ContractTests {
  @Test(arguments: StorageContract.allCases)
  func `a forwarding storage keeps the contract`(rule: StorageContract) throws {
    try rule.verify(ForwardingStorage(base: InMemoryStorage()))
  }

  @Test func `a locked storage is unlocked by the given closure`() throws {
    try StorageContract.lockedIsNotMissing.verify(
      ForwardingStorage(base: InMemoryStorage()), unlock: { try $0.unlock() })
  }

  @Test(arguments: StorageDurability.allCases)
  func `a storage is restarted in each way that it survives`(durability: StorageDurability) throws {
    let storage = ForwardingStorage(base: InMemoryStorage(), durability: durability)
    let endings = Mutex<Set<StorageContract.Ending>>([])
    try StorageContract.changesAreDurable.verify(
      storage,
      restart: { ending in
        endings.withLock { _ = $0.insert(ending) }
        return storage
      })
    let expected: Set<StorageContract.Ending> =
      switch durability {
      case .temporary: []
      case .afterRestart: [.orderly]
      case .afterKill: [.orderly, .kill]
      }
    #expect(endings.withLock { $0 } == expected)
    #expect(StorageContract.Ending.allCases.filter(expected.contains).count == expected.count)
  }

  @Test func `a storage of storages promises what the one that it writes does`() throws {
    let storage = ForwardingStorage(base: InMemoryStorage(), durability: .afterKill)
    #expect(storage.cached().durability == .afterKill)
    #expect(FaultyStorage(storage).durability == .afterKill)
    let layers: [LayeredStorage.Layer] = [.reading(InMemoryStorage()), .writing(storage)]
    #expect(LayeredStorage(layers).durability == .afterKill)
    #expect(LayeredStorage([layers[0]]).durability == .afterRestart)
    let choices: [any SecureStorage] = [storage, InMemoryStorage()]
    #expect(FirstAvailableStorage(choices, remembering: .nowhere).durability == .temporary)
    #expect(AutoLockingStorage(InMemoryStorage()).durability == .temporary)
    #expect(
      StorageDurability.temporary < .afterRestart && StorageDurability.afterRestart < .afterKill)
    #expect(InMemoryStorage().durability == .temporary)
    #expect(EnvironmentStorage(service: "service", prefix: "X_").durability == .afterRestart)
    #if os(Linux)
    #expect(SecretServiceStorage().durability == .afterRestart)
    #expect(SecretServiceStorage(collection: .session).durability == .temporary)
    #endif
  }

  @Test func `a violation has its rule and its finding`() throws {
    let storage = FaultyStorage()
    storage.fail(.read, with: .timedOut)
    let violation = #expect(throws: ContractViolation.self) {
      try StorageContract.missingIsEmpty.verify(storage)
    }
    let rule = try #require(violation?.rule)
    #expect(rule == StorageContract(rawValue: "missingIsEmpty"))
    #expect(rule.testDescription == "rule 1: missingIsEmpty")
    #expect(violation?.description == "rule 1: missingIsEmpty: \(violation?.finding ?? "")")
  }

  /// Names all rules without a `default`, so that a new rule doesn't go unnoticed.
  @Test(arguments: StorageContract.allCases)
  func `every rule has a name and a number`(rule: StorageContract) {
    let number =
      switch rule {
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
        .commentsAndLocksAreMetadata, .newestComesFirst, .limitedQueriesAreTheBeginning:
        7
      case .secretsAreNotShown: 8
      case .threadsLoseNothing, .newValuesAreShared, .lockingLosesNothing: 9
      case .canceledCallsAreNotMade, .progressEndsWithItsQuery: 10
      case .changesAreReportedOnce, .endedObservationsAreSilent, .observersMayUseTheStorage: 11
      case .absentMeansUnlocked, .addingNeverReplaces: 12
      case .newItemsAreDurable, .changesAreDurable, .removalsAreDurable: 13
      }
    #expect(rule.rule == number)
  }

  @Test func `the cases of a storage follow from its capabilities`() {
    let all = Set(StorageContract.allCases)
    #expect(Set(StorageContract.cases(for: InMemoryStorage.self)) == all)
    let observed = Set(StorageContract.cases(for: FaultyStorage.self))
    #expect(observed.contains(.changesAreReportedOnce) && !observed.contains(.lockedIsNotMissing))
    let least = Set(StorageContract.cases(for: EnvironmentStorage.self))
    let needy: Set<StorageContract> = [
      .lockedIsNotMissing, .lockedItemsAreListed, .removingLockedFails, .collectionsAreApart,
      .lockingLosesNothing, .changesAreReportedOnce, .endedObservationsAreSilent,
      .observersMayUseTheStorage, .absentMeansUnlocked, .addingNeverReplaces,
    ]
    #expect(least == all.subtracting(needy))
  }
}
