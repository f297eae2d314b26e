// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import KeyringPlatform
internal import KeyringStorage
internal import Synchronization

/// A trial of a storage by the cases of the contract that have one subject.
protocol ContractTrial: Sendable {
  /// The capability that all of its cases require, if any.
  static var requirement: StorageContract.Requirement? { get }

  var subject: TrialSubject { get }

  init(subject: TrialSubject)
}

extension ContractTrial {
  static var requirement: StorageContract.Requirement? { nil }

  var storage: any SecureStorage { subject.storage }
  var service: String { subject.service }
  var otherService: String { subject.otherService }
  var ofServer: ItemQuery { subject.ofServer }

  func password(_ account: String = "account") -> ItemKey {
    .password(service: service, account: account)
  }

  func credentials(_ label: String = "label") -> ItemKey {
    .credentials(service: service, label: label)
  }

  func save(
    _ text: String, _ key: ItemKey, mode: SaveMode = .addOrReplace
  ) throws(SecureStorageError) {
    try storage.save(SecureItem(key: key, secret: Secret(text)), mode: mode)
  }

  func secret(_ key: ItemKey) throws(SecureStorageError) -> Secret? {
    try storage.item(for: key, details: .secret)?.secret
  }

  /// Returns the storage's limit, which must not be larger than that of all storages.
  func secretByteLimit() throws -> Int {
    let (limit, largest) = (storage.secretByteLimit, ItemLimits.secretBytes)
    try expect((0...largest).contains(limit), "the limit of \(limit) bytes isn't in 0...\(largest)")
    return limit
  }

  // MARK: - Expectations

  func violation(_ finding: String) -> ContractViolation { subject.violation(finding) }

  func expect(_ condition: Bool, _ otherwise: @autoclosure () -> String) throws {
    if !condition { throw violation(otherwise()) }
  }

  /// Expects an error with a code and, if there is one, the name of the refused argument.
  @discardableResult
  func expect(
    _ code: SecureStorageError.Code, _ argument: String? = nil, of action: String,
    _ body: () throws -> Void
  ) throws -> SecureStorageError {
    do {
      try body()
    } catch let error as SecureStorageError {
      try expect(error.code == code, "\(action) threw \(error.code) instead of \(code)")
      try expect(
        argument == nil || error.argument == argument,
        "\(action) named \(error.argument ?? "no argument") instead of \(argument ?? "none")")
      return error
    }
    throw violation("\(action) succeeded instead of throwing \(code)")
  }

  func expectStored(_ text: String, _ key: ItemKey, _ moment: String) throws {
    let items = try storage.items(matching: .key(key, details: .all))
    try expect(items.count == 1, "\(moment) there are \(items.count) items under \(key)")
    try expect(items[0].secret == Secret(text), "\(moment) the secret of \(key) is another one")
  }

  /// Runs closures at the same time, each on its own thread, and waits for all of them.
  ///
  /// Storages block their thread, so tasks, which share the threads of the cooperative pool, aren't
  /// suitable.
  static func concurrently(_ bodies: [@Sendable () throws -> Void]) throws {
    let group = DispatchGroup()
    let started = Atomic(0)
    let failure = Mutex<(any Error)?>(nil)
    for body in bodies {
      // Dispatch gives each serial queue its own thread.
      DispatchQueue(label: "StorageContract").async(group: group) {
        started.add(1, ordering: .acquiringAndReleasing)
        while started.load(ordering: .acquiring) < bodies.count { _ = sched_yield() }
        do {
          try body()
        } catch {
          failure.withLock { $0 = $0 ?? error }
        }
      }
    }
    group.wait()
    if let error = failure.withLock({ $0 }) { throw error }
  }
}
