// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc
import Keyring
import KeyringRuntime
import KeyringStorage
import KeyringTesting
import Synchronization
import TestPrograms
import Testing

/// A check that each rule of the contract can fail.
///
/// A storage with just one fault breaks the rule.
@Suite struct StorageContractTests {
  @Test(.tags(.slow), arguments: Fault.allCases)
  func `the contract finds each fault`(fault: Fault) throws {
    let error = #expect(throws: ContractViolation.self) {
      let storage = RuleBreakingStorage(fault)
      try fault.brokenRule.verify(storage, restart: storage.restarted)
    }
    #expect(error?.rule == fault.brokenRule)
  }

  @Test func `every rule has a fault that breaks it`() {
    #expect(
      Set(Fault.allCases.map(\.brokenRule))
        == Set(StorageContract.allCases.filter { $0.requirement != .collections }))
  }

  @Test(arguments: StorageContract.allCases.filter { $0.requirement == .restart })
  func `a durable storage needs a way to restart its backend`(rule: StorageContract) throws {
    let storage = RuleBreakingStorage(.printsSecrets)
    try rule.verify(storage, restart: storage.restarted)
    let error = #expect(throws: ContractViolation.self) { try rule.verify(storage) }
    #expect(error?.finding.contains("durability is afterKill") == true)
    try rule.verify(InMemoryStorage(), restart: { _ in throw CancellationError() })
  }

  @Test func `the cases of a storage follow from its capabilities`() {
    let all = Set(StorageContract.allCases)
    #expect(Set(StorageContract.cases(for: InMemoryStorage.self)) == all)
    let observed = Set(StorageContract.cases(for: FaultyStorage.self))
    #expect(observed.contains(.changesAreReportedOnce) && !observed.contains(.lockedIsNotMissing))
    let needy: Set<StorageContract> = [
      .lockedIsNotMissing, .lockedItemsAreListed, .removingLockedFails, .collectionsAreApart,
      .lockingLosesNothing, .changesAreReportedOnce, .endedObservationsAreSilent,
      .observersMayUseTheStorage, .nobodyWaitsForObservers, .absentMeansUnlocked,
      .addingNeverReplaces,
    ]
    #expect(Set(StorageContract.cases(for: SilentStorage.self)) == all.subtracting(needy))
  }

  @Test func `a storage of storages promises what the one that it writes does`() {
    let storage = RuleBreakingStorage(.printsSecrets)
    #expect(storage.cached().durability == .afterKill)
    #expect(storage.cached().readsOneVersion && FaultyStorage(storage).readsOneVersion)
    #expect(LayeredStorage([.reading(storage)]).readsOneVersion)
    #expect(FirstAvailableStorage([storage], remembering: .nowhere).readsOneVersion)
    let others: [any SecureStorage] = [storage, SilentStorage()]
    #expect(!LayeredStorage(others.map { .reading($0) }).readsOneVersion)
    #expect(!FirstAvailableStorage(others, remembering: .nowhere).readsOneVersion)
    #expect(FaultyStorage(storage).durability == .afterKill)
    let layers: [LayeredStorage.Layer] = [.reading(InMemoryStorage()), .writing(storage)]
    #expect(LayeredStorage(layers).durability == .afterKill)
    #expect(LayeredStorage([layers[0]]).durability == .afterRestart)
  }

  @Test func `the rule about locking needs a lockable storage`() {
    #expect(throws: ContractViolation.self) {
      try StorageContract.lockedIsNotMissing.verify(SilentStorage())
    }
  }
}

enum Fault: CaseIterable {
  case readsMissingAsEmpty, mixesUpKeys, readsUndecodableAsMissing, readsLockedAsMissing
  case keepsTheFirstSecret, readsLockedSecretsAsMissing
  case savesBesideThePresentItem, addReplaces, updateCreates, ignoresTheCaseOfKeys, refusesNothing
  case deletesBeforeItSaves, keepsTheOldLogin
  case cutsAtNUL, readsEmptyAsMissing, normalizesText, normalizesNames
  case countsAbsentAsRemoved, removesWhatIsLocked
  case removesByPrefix, removesWithoutAName, listsOnlyUsualParts
  case forgetsLabels, dropsSecretsWithLabels, ignoresSearchedAttributes, listsOldestFirst
  case stopsTheClock
  case printsSecrets
  case losesWritesOfThreads, addsInTwoSteps, diagnosesInOneForm
  case ignoresParts, ignoresAccessGroups, ignoresTheMode, changesBytes, ignoresQueries,
    dropsComments
  case hidesLockedItems, ignoresCancellation
  case keepsLabelsOfNewSecrets, dropsByteOrderMarks, locksOnlyOnce, dropsWhatIsWrittenWhileLocked
  case reportsTwice, reportsReplacedAsCreated, reportsToThoseWhoHaveLeft, refusesObservers,
    waitsForObservers
  case readsAbsentWhileLocked, addsUnlockingAndReplacing
  case limitsToTheOldest, tellsProgressTooLate
  case hasNoLimit
  case losesNewItems, losesWhatIsKilled, losesChangedSecrets, losesChangedLabels
  case losesChangedAttributes, losesChangedExpiries, bringsBackRemovedItems
  case readsOneByOne
  case takesNoTurns, overwritesPlainWrites, restoresRemovedItems, keepsTurns, passesThoseWhoWait

  var brokenRule: StorageContract {
    switch self {
    case .readsMissingAsEmpty: .missingIsEmpty
    case .mixesUpKeys: .keysAreReadAtOnce
    case .readsUndecodableAsMissing: .undecodableIsNotMissing
    case .readsLockedAsMissing, .readsLockedSecretsAsMissing: .lockedIsNotMissing
    case .keepsTheFirstSecret: .secretsAreReadAlone
    case .savesBesideThePresentItem: .savingReplacesOne
    case .addReplaces: .addRefusesPresent
    case .updateCreates: .updateRefusesAbsent
    case .ignoresTheCaseOfKeys: .keysNeverCollide
    case .refusesNothing: .invalidArgumentsAreRefused
    case .deletesBeforeItSaves: .credentialsAreNeverMixed
    case .keepsTheOldLogin: .newLoginLeavesOneItem
    case .cutsAtNUL: .bytesComeBack
    case .readsEmptyAsMissing: .emptyIsNotMissing
    case .normalizesText, .normalizesNames: .textIsNotNormalized
    case .countsAbsentAsRemoved: .removingAbsentSaysZero
    case .removesWhatIsLocked: .removingLockedFails
    case .removesByPrefix: .removingServiceLeavesOthers
    case .removesWithoutAName: .removingEverythingIsRefused
    case .listsOnlyUsualParts: .itemsOfAnyShapeAreListed
    case .forgetsLabels: .metadataReadsBack
    case .dropsSecretsWithLabels: .labelChangesAlone
    case .ignoresSearchedAttributes: .attributesAreSearchable
    case .listsOldestFirst, .stopsTheClock: .newestComesFirst
    case .printsSecrets: .secretsAreNotShown
    case .losesWritesOfThreads: .threadsLoseNothing
    case .addsInTwoSteps: .newValuesAreShared
    case .diagnosesInOneForm: .bothFormsAgree
    case .ignoresParts: .internetPasswordsNeverCollide
    case .ignoresAccessGroups: .accessGroupsAreApart
    case .ignoresTheMode: .typedSavingKeepsTheMode
    case .changesBytes: .valuesComeBack
    case .ignoresQueries: .queriesNarrowDown
    case .dropsComments: .commentsAndLocksAreMetadata
    case .hidesLockedItems: .lockedItemsAreListed
    case .ignoresCancellation: .canceledCallsAreNotMade
    case .keepsLabelsOfNewSecrets: .metadataReadsBack
    case .dropsByteOrderMarks: .byteOrderMarksAreKept
    case .locksOnlyOnce: .lockedIsNotMissing
    case .dropsWhatIsWrittenWhileLocked: .lockingLosesNothing
    case .reportsTwice, .reportsReplacedAsCreated: .changesAreReportedOnce
    case .reportsToThoseWhoHaveLeft: .endedObservationsAreSilent
    case .refusesObservers: .observersMayUseTheStorage
    case .waitsForObservers: .nobodyWaitsForObservers
    case .readsAbsentWhileLocked: .absentMeansUnlocked
    case .addsUnlockingAndReplacing: .addingNeverReplaces
    case .limitsToTheOldest: .limitedQueriesAreTheBeginning
    case .tellsProgressTooLate: .progressEndsWithItsQuery
    case .hasNoLimit: .invalidArgumentsAreRefused
    case .losesNewItems, .losesWhatIsKilled: .newItemsAreDurable
    case .losesChangedSecrets, .losesChangedLabels, .losesChangedAttributes, .losesChangedExpiries:
      .changesAreDurable
    case .bringsBackRemovedItems: .removalsAreDurable
    case .readsOneByOne: .callsReadOneVersion
    case .takesNoTurns: .updatesTakeTurns
    case .overwritesPlainWrites, .restoresRemovedItems: .plainWritesWin
    case .keepsTurns, .passesThoseWhoWait: .endedTurnsLetOthersGo
    }
  }
}

/// A storage that is correct except for one fault.
private struct RuleBreakingStorage: BlockingStorage, LockableStorage, ObservableStorage,
  CustomStringConvertible
{
  let fault: Fault
  private let base = InMemoryStorage()
  /// Every item that was ever saved, which some faults need.
  private let saved = Log()

  init(_ fault: Fault) { self.fault = fault }

  var secretByteLimit: Int { fault == .hasNoLimit ? .max : base.secretByteLimit }

  let durability = StorageDurability.afterKill
  let readsOneVersion = true

  /// Returns the storage as it is after the end of its backend.
  func restarted(after ending: StorageContract.Ending) throws -> any SecureStorage {
    for item in saved.firstItems {
      var old = SecureItem(key: item.key)
      switch fault {
      case .losesNewItems: try base.remove(item.key)
      case .losesWhatIsKilled where ending == .kill: try base.remove(item.key)
      case .losesChangedSecrets: old.secret = item.secret
      case .losesChangedLabels: old.label = item.label
      case .losesChangedAttributes: old.attributes = item.attributes?.filter { $0.key != "expires" }
      case .losesChangedExpiries: old.expires = item.expires
      case .bringsBackRemovedItems where try !base.exists(item.key):
        try base.save(item, mode: .add)
      default: break
      }
      if try base.exists(item.key) { try base.save(old, mode: .update) }
    }
    return self
  }

  var description: String {
    fault == .printsSecrets ? "\(saved.items.compactMap(\.secret?.text))" : "RuleBreakingStorage"
  }

  func lock() throws(SecureStorageError) {
    if fault == .dropsWhatIsWrittenWhileLocked { saved.waitForWrite() }
    if fault == .locksOnlyOnce, try base.isLocked() {
      throw error(.other, during: .lock)
    }
    try base.lock()
  }
  func unlock() throws(SecureStorageError) { try base.unlock() }
  func isLocked() throws(SecureStorageError) -> Bool { try base.isLocked() }

  func save(_ item: SecureItem, mode: SaveMode) throws(SecureStorageError) {
    if saved.hasReported { throw error(.other, during: .save) }
    var item = item
    var mode = mode
    if fault.brokenRule.requirement == .restart { saved.append(item) }
    switch fault {
    case .savesBesideThePresentItem: saved.append(item)
    case .keepsTheFirstSecret: saved.append(item)
    case .addReplaces: mode = mode == .add ? .addOrReplace : mode
    case .addsUnlockingAndReplacing where mode == .add:
      if try base.isLocked() {
        try base.unlock()
        mode = .addOrReplace
      }
    case .addsInTwoSteps where mode == .add:
      if try base.exists(item.key) { break }
      saved.waitForAnotherAddition()
      mode = .addOrReplace
    case .updateCreates: mode = mode == .update ? .addOrReplace : mode
    case .ignoresTheCaseOfKeys: item.key = lowercased(item.key)
    case .refusesNothing:
      do { try validate(item) } catch { return }
    case .deletesBeforeItSaves:
      let count = saved.missCount
      if try base.remove(item.key) { saved.waitForMiss(after: count) }
    case .keepsTheOldLogin where try base.exists(item.key):
      item.attributes = nil
    case .cutsAtNUL:
      item.secret = item.secret.map { secret in
        Secret(bytes: secret.withUnsafeBytes { Array($0.prefix { $0 != 0 }) })
      }
    case .normalizesText:
      // This storage takes the decomposed and the composed form for the same account.
      if item.key.attributes["username"] == "\u{E9}" {
        item.key = .password(service: item.key.attributes["service"] ?? "", account: "\u{E9}")
      }
    case .normalizesNames:
      if item.key.kind.rawValue == "\u{E9}" {
        item.key = ItemKey(kind: ItemKind(rawValue: "\u{E9}"), attributes: item.key.attributes)
      }
    case .forgetsLabels: item.label = nil
    case .ignoresParts: item.key = without("port", item.key)
    case .ignoresAccessGroups: item.key = without("access-group", item.key)
    case .ignoresTheMode: mode = .addOrReplace
    case .changesBytes:
      item.secret = item.secret.map { Secret(bytes: Array($0.withUnsafeBytes { $0.reversed() })) }
    case .dropsComments: item.attributes = nil
    case .ignoresCancellation:
      return try Cancellation.$current.withValue(nil) {
        Result { () throws(SecureStorageError) in try base.save(item, mode: mode) }
      }.get()
    case .keepsLabelsOfNewSecrets where item.secret != nil:
      if try base.exists(item.key) { item.label = nil }
    case .dropsByteOrderMarks:
      item.attributes = item.attributes?.mapValues { String($0.drop { $0 == "\u{FEFF}" }) }
    case .dropsWhatIsWrittenWhileLocked where saved.isAwaited():
      #expect(waitUntil { (try? base.isLocked()) == true })
      return
    case .dropsSecretsWithLabels where item.secret == nil: item.secret = Secret("")
    case .printsSecrets: saved.append(item)
    case .losesWritesOfThreads:
      if saved.append(item) % 7 == 0 { return }
    default: break
    }
    try base.save(item, mode: mode)
    saved.countWrite()
  }

  func items(matching query: ItemQuery) throws(SecureStorageError) -> [SecureItem] {
    var query = query
    switch fault {
    case .readsLockedAsMissing where try base.isLocked(): return []
    case .readsAbsentWhileLocked where try base.isLocked() && query.key != nil:
      try base.unlock()
      defer { try? base.lock() }
      if try base.items(matching: query).isEmpty { return [] }
    case .ignoresTheCaseOfKeys: query.key = query.key.map(lowercased)
    case .ignoresParts: query.key = query.key.map { without("port", $0) }
    case .ignoresAccessGroups: query.key = query.key.map { without("access-group", $0) }
    case .ignoresQueries: query.label = nil
    case .hidesLockedItems where try base.isLocked() && !query.allowsUnlocking: return []
    case .ignoresSearchedAttributes: query.attributes["environment"] = nil
    default: break
    }
    let limit = query.limit
    if fault == .limitsToTheOldest { query.limit = nil }
    if fault == .tellsProgressTooLate { saved.tellLastProgress(andKeep: query.onProgress) }
    let items = try base.items(matching: query)
    if items.isEmpty { saved.countMiss() }
    switch fault {
    case .limitsToTheOldest:
      return limit.map(items.suffix) ?? items
    case .readsMissingAsEmpty where items.isEmpty:
      return query.key.map { [SecureItem(key: $0, secret: Secret(""))] } ?? []
    case .listsOnlyUsualParts where query.key == nil:
      return items.filter { $0.key.schema == nil && $0.key.attributes["account"] == nil }
    case .readsUndecodableAsMissing:
      return items.filter { $0.secret?.text != nil }
    case .listsOldestFirst:
      return items.reversed()
    case .readsEmptyAsMissing:
      return items.filter { $0.secret?.count != 0 }
    case .stopsTheClock:
      return items.map { item in
        var item = item
        item.modified = item.modified.map { _ in .distantPast }
        return item
      }
    case .savesBesideThePresentItem where query.key == nil:
      return saved.items
    default:
      return items
    }
  }

  func secret(for key: ItemKey) throws(SecureStorageError) -> Secret? {
    switch fault {
    case .keepsTheFirstSecret: return saved.items.first { $0.key == key }?.secret
    case .readsLockedSecretsAsMissing where try base.isLocked(): return nil
    default: return try items(matching: .key(key, details: .secret)).first?.secret
    }
  }

  func items(
    for keys: [ItemKey], details: ItemQuery.Details
  ) throws(SecureStorageError) -> [ItemKey: SecureItem] {
    if fault == .readsOneByOne {
      var items: [ItemKey: SecureItem] = [:]
      for key in keys {
        items[key] = try base.item(for: key, details: details)
        saved.waitForWrites()
      }
      return items
    }
    var items = try base.items(for: keys, details: details)
    if fault == .mixesUpKeys, let first = keys.first { items[first] = items[keys[1]] }
    return items
  }

  func removeItems(matching query: ItemQuery) throws(SecureStorageError) -> Int {
    switch fault {
    case .countsAbsentAsRemoved:
      _ = try base.removeItems(matching: query)
      return 1
    case .removesWhatIsLocked where try base.isLocked():
      try base.unlock()
      let count = try base.removeItems(matching: query)
      try base.lock()
      return count
    case .removesByPrefix:
      let service = query.attributes["service"] ?? ""
      let others = try base.items(matching: ItemQuery())
        .filter { $0.key.attributes["service"]?.hasPrefix(service + "-") ?? false }
      for item in others { try base.remove(item.key) }
      return try base.removeItems(matching: query)
    case .removesWithoutAName where query.isUnconstrained: return 0
    case .ignoresTheCaseOfKeys:
      var query = query
      query.key = query.key.map(lowercased)
      return try base.removeItems(matching: query)
    default:
      return try base.removeItems(matching: query)
    }
  }

  nonisolated(nonsending) func takeTurnWithoutBlocking(
    for key: ItemKey, details: ItemQuery.Details, timeout: Duration?
  ) async throws(SecureStorageError) -> any ItemTurn {
    let queued = try await takeQueuedTurn(for: key, details: details, timeout: timeout)
    return FaultyTurn(storage: self, key: key, details: details, queued: queued)
  }

  private nonisolated(nonsending) func takeQueuedTurn(
    for key: ItemKey, details: ItemQuery.Details, timeout: Duration?
  ) async throws(SecureStorageError) -> (any ItemTurn)? {
    if fault == .takesNoTurns || fault == .addsInTwoSteps { return nil }
    do throws(SecureStorageError) {
      return try await base.takeTurnWithoutBlocking(for: key, details: details, timeout: timeout)
    } catch {
      guard fault == .passesThoseWhoWait, error.code == .timedOut else { throw error }
      return nil
    }
  }

  /// A turn that doesn't compare, wait or end, as the fault says.
  private struct FaultyTurn: ItemTurn {
    let storage: RuleBreakingStorage
    let key: ItemKey
    let details: ItemQuery.Details
    let queued: (any ItemTurn)?

    nonisolated(nonsending) func item() async throws(SecureStorageError) -> SecureItem? {
      try await storage.itemsWithoutBlocking(for: [key], details: details)[key]
    }

    nonisolated(nonsending) func save(
      _ item: SecureItem?, replacing old: SecureItem?
    ) async throws(SecureStorageError) -> Bool {
      let isThere = try await storage.base.exists(key)
      switch storage.fault {
      case .overwritesPlainWrites where isThere == (old != nil), .takesNoTurns: break
      case .restoresRemovedItems where !isThere && old != nil: break
      case .addsInTwoSteps:
        return try await storage.change(to: item, for: key, wasThere: old != nil)
      default: if let queued { return try await queued.save(item, replacing: old) }
      }
      if let item { try await storage.saveWithoutBlocking(item, mode: .addOrReplace) }
      return true
    }

    nonisolated(nonsending) func end() async {
      if storage.fault != .keepsTurns { await queued?.end() }
    }
  }

  nonisolated(nonsending) func diagnoseWithoutBlocking(
    writing: Bool
  ) async throws(SecureStorageError) -> StorageDiagnosis {
    if fault == .diagnosesInOneForm { return StorageDiagnosis(of: backendName) }
    return try await diagnosing(writing: writing) { diagnose(writing: writing) }
  }

  func observe(
    _ query: ItemQuery?, _ observer: @escaping @Sendable (StorageEvent) -> Void
  ) throws(SecureStorageError) -> StorageSubscription {
    if fault == .waitsForObservers { return try base.observeForLibrary(query, observer) }
    if fault == .reportsToThoseWhoHaveLeft {
      // Each of those who stay may be notified before those who have left, unless all are notified during the change.
      saved.keep(try base.observeForLibrary(query, observer))
      return StorageSubscription {}
    }
    return base.observe(query) { event in
      switch (fault, event) {
      case (.reportsTwice, .changed(.replaced)):
        observer(event)
        observer(event)
      case (.reportsReplacedAsCreated, .changed(.replaced(let key))):
        observer(.changed(.created(key)))
      case (.refusesObservers, _):
        saved.noteReport()
        observer(event)
      default: observer(event)
      }
    }
  }

  private func without(_ part: String, _ key: ItemKey) -> ItemKey {
    ItemKey(kind: key.kind, attributes: key.attributes.filter { $0.key != part })
  }

  private func lowercased(_ key: ItemKey) -> ItemKey {
    ItemKey(kind: key.kind, attributes: key.attributes.mapValues { $0.lowercased() })
  }
}

private final class Log: Sendable {
  private let state = Mutex<[SecureItem]>([])
  var items: [SecureItem] { state.withLock { $0 } }
  /// Appends an item, and returns the number of items.
  @discardableResult func append(_ item: SecureItem) -> Int {
    state.withLock { items in
      items.append(item)
      return items.count
    }
  }
  var firstItems: Dictionary<ItemKey, SecureItem>.Values {
    Dictionary(items.map { ($0.key, $0) }) { first, _ in first }.values
  }

  private let observations = Mutex<[StorageSubscription]>([])
  func keep(_ observation: StorageSubscription) { observations.withLock { $0.append(observation) } }

  private let reported = Atomic(false)
  /// Whether an observer was called.
  var hasReported: Bool { reported.load(ordering: .relaxed) }
  func noteReport() { reported.store(true, ordering: .relaxed) }

  private let progress = Mutex<(@Sendable (Int, Int) -> Void)?>(nil)
  func tellLastProgress(andKeep handler: (@Sendable (Int, Int) -> Void)?) {
    progress.withLock { progress in
      progress?(1, 1)
      progress = handler
    }
  }

  // MARK: - Other threads, without which some faults don't show

  private let writes = Atomic(0)
  func countWrite() { writes.add(1, ordering: .releasing) }

  /// Waits until another thread has written several times.
  func waitForWrites() {
    let enough = writes.load(ordering: .acquiring) + 3
    #expect(waitUntil { writes.load(ordering: .acquiring) >= enough }, "no thread writes")
  }

  private let misses = Atomic(0)
  private let hasWaited = Atomic(false)
  /// The number of reads that have found nothing.
  var missCount: Int { misses.load(ordering: .acquiring) }
  func countMiss() { misses.add(1, ordering: .releasing) }

  /// Waits until another thread has found nothing, the first time.
  ///
  /// After that, the thread reads no more.
  func waitForMiss(after count: Int) {
    if hasWaited.exchange(true, ordering: .relaxed) { return }
    #expect(waitUntil { missCount > count }, "no thread has noticed that an item is missing")
  }

  private let additions = Atomic(0)

  /// Waits until another thread adds an item, too.
  func waitForAnotherAddition() {
    additions.add(1, ordering: .releasing)
    #expect(waitUntil { additions.load(ordering: .acquiring) >= 2 }, "no other thread adds an item")
  }

  /// 1 while a lock waits for a write, and 2 from then on.
  private let stage = Atomic(0)

  /// Waits until another thread has begun to write, the first time.
  func waitForWrite() {
    let isFirst = stage.compareExchange(expected: 0, desired: 1, ordering: .relaxed).exchanged
    guard isFirst else { return }
    #expect(waitUntil { stage.load(ordering: .relaxed) == 2 }, "no thread writes")
  }

  /// Returns `true` if a lock waits for this write.
  func isAwaited() -> Bool {
    stage.compareExchange(expected: 1, desired: 2, ordering: .relaxed).exchanged
  }
}
