// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Keyring
internal import KeyringStorage
internal import Synchronization

/// The trial of observation: observers get each change once, with its kind, and nobody waits for them.
extension ContractTrial {
  func changesAreReportedOnce() throws {
    let key = password()
    try save("there before", password("old"))
    let log = try observe()
    try log.expect([], self)

    try save("first", key, mode: .add)
    try log.expect([.created(key)], self)
    for text in ["second", "second"] {
      try save(text, key)
      try log.expect([.replaced(key)], self)
    }
    try storage.save(SecureItem(key: key, label: "Another label"), mode: .update)
    try log.expect([.replaced(key)], self)
    try storage.save(SecureItem(key: key, attributes: ["environment": "test"]), mode: .update)
    try log.expect([.replaced(key)], self)
    try save("replaced", password("old"))
    try log.expect([.replaced(password("old"))], self)

    try save("of another service", .password(service: otherService, account: "account"))
    _ = try secret(key)
    try expect(.itemAlreadyExists, of: "adding a present item") {
      try save("x", key, mode: .add)
    }
    try expect(.itemNotFound, of: "updating an absent item") {
      try save("x", password("absent"), mode: .update)
    }
    try storage.remove(password("absent"))
    try log.expect([], self)

    try storage.remove(key)
    try log.expect([.removed(key)], self)
    try storage.removeItems(matching: .service(service))
    try log.expect([.removed(password("old"))], self)
    try newLoginsAreReplacements(log)
  }

  /// Checks a case in which a storage may have to create a new item and delete the old one: another login.
  private func newLoginsAreReplacements(_ log: ChangeLog) throws {
    let key = credentials()
    try credential().write(Credential(login: "first", password: "s3cret"))
    try log.expect([.created(key)], self)
    try credential().write(Credential(login: "second", password: "s3cret"))
    try log.expect([.replaced(key)], self)
    try storage.remove(key)
    try log.expect([.removed(key)], self)
  }

  func endedObservationsAreSilent() throws {
    let ended = try observe()
    let released = try observe()
    let log = try observe()
    try save("s3cret", password())
    for log in [ended, released, log] { _ = try log.wait(for: [.created(password())], self) }

    ended.observation.withLock { $0?.cancel() }
    released.observation.withLock { $0 = nil }
    try storage.remove(password())
    try log.expect([.removed(password())], self)
    for log in [ended, released] {
      try expect(log.takeAll().isEmpty, "a change is reported after the observation has ended")
    }
  }

  func observersMayUseTheStorage() throws {
    let (first, second) = (password("first"), password("second"))
    let item = SecureItem(key: second, secret: Secret("of the observer"))
    // The observer may outlive the trial, whose closures are the caller's.
    let log = try observe { [storage] event throws(SecureStorageError) in
      guard case .changed(.created(first)) = event else { return }
      try storage.save(item, mode: .addOrReplace)
      _ = try storage.item(for: first, details: .secret)
    }
    try save("s3cret", first)
    let found = try log.wait(for: [.created(first), .created(second)], self)
    try expect(
      found == [.created(first), .created(second)],
      "the storage reported \(found) while an observer used it")
    try expectStored("of the observer", second, "after an observer has stored it")
  }

  func nobodyWaitsForObservers() throws {
    let keys = ["first", "second", "third"].map { password($0) }
    let changes = keys.map(ItemChange.created)
    let gate = DispatchSemaphore(value: 0)
    let isLate = Mutex(false)
    let log = try observe { event in
      if event == .changed(changes[0]), gate.wait(timeout: .now() + 20) == .timedOut {
        isLate.withLock { $0 = true }
      }
    }
    let other = try observe()
    for key in keys {
      try save("s3cret", key)
      try expectStored("s3cret", key, "while an observer waits")
    }
    let found = try other.wait(for: changes, self)
    gate.signal()
    let late = try log.wait(for: changes, self)
    try expect(!isLate.withLock { $0 }, "a call or another observer waited for an observer")
    try expect(
      found == changes && late == changes,
      "the storage reported \(found), and \(late) to an observer that had waited")
  }

  /// Observes the items of the service with an observer that reacts to each event before it is in the log.
  private func observe(
    _ react: @escaping @Sendable (StorageEvent) throws(SecureStorageError) -> Void = { _ in }
  ) throws -> ChangeLog {
    guard let observable = storage as? any ObservableStorage else {
      throw violation("the case is for an ObservableStorage")
    }
    let log = ChangeLog(of: service)
    // The log retains the observation, and the observation retains its closure.
    let observation = try observable.observe(.service(service)) { [weak log] event in
      do throws(SecureStorageError) { try react(event) } catch { log?.fail(error) }
      log?.append(event)
    }
    log.observation.withLock { $0 = observation }
    return log
  }
}

/// The reported changes of the items of a service.
private final class ChangeLog: Sendable {
  let observation = Mutex<StorageSubscription?>(nil)
  private let service: String
  private let changes = Mutex<[ItemChange]>([])
  private let failure = Mutex<SecureStorageError?>(nil)
  private let arrival = DispatchSemaphore(value: 0)

  init(of service: String) { self.service = service }

  func append(_ event: StorageEvent) {
    guard case .changed(let change) = event, change.key.attributes["service"] == service
    else { return }
    changes.withLock { $0.append(change) }
    arrival.signal()
  }

  /// Ends the waits with the error of an observer.
  func fail(_ error: SecureStorageError) {
    failure.withLock { $0 = error }
    arrival.signal()
  }

  func takeAll() -> [ItemChange] {
    changes.withLock { exchange(&$0, with: []) }
  }

  /// Expects these changes and no others.
  ///
  /// It makes another change, and late reports arrive before the report of that change.
  func expect(_ expected: [ItemChange], _ trial: ContractTrial) throws {
    var found = try wait(for: expected, trial)
    let last = trial.password("last")
    try trial.save("last", last)
    found += try wait(for: [.created(last)], trial)
    try trial.storage.remove(last)
    found += try wait(for: [.removed(last)], trial)
    let all = expected + [.created(last), .removed(last)]
    try trial.expect(found == all, "the storage reported \(found) instead of \(all)")
  }

  /// Waits until the expected number of changes was reported, and takes them.
  func wait(for expected: [ItemChange], _ trial: ContractTrial) throws -> [ItemChange] {
    var found = takeAll()
    let end = DispatchTime.now() + 60
    while found.count < expected.count {
      if arrival.wait(timeout: end) == .timedOut {
        throw trial.violation("the storage reported only \(found) instead of \(expected)")
      }
      if let error = failure.withLock({ $0 }) { throw error }
      found += takeAll()
    }
    return found
  }
}
