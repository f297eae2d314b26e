// SPDX-License-Identifier: Apache-2.0

import Keyring
import KeyringStorage
import KeyringTesting
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
      case .threadsLoseNothing, .lockingLosesNothing: 9
      case .canceledCallsAreNotMade, .progressEndsWithItsQuery: 10
      case .changesAreReportedOnce, .endedObservationsAreSilent: 11
      case .absentMeansUnlocked, .addingNeverReplaces: 12
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
      .absentMeansUnlocked, .addingNeverReplaces,
    ]
    #expect(least == all.subtracting(needy))
  }
}
