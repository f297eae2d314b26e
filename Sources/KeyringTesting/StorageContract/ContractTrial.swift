// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Keyring
internal import KeyringPlatform
internal import KeyringRuntime
internal import KeyringStorage
internal import Synchronization

/// A trial of a storage by one case of the contract, with the services of its items.
struct ContractTrial: Sendable {
  typealias Unlock = @Sendable (any LockableStorage) throws -> Void
  typealias Restart = @Sendable (StorageContract.Ending) throws -> any SecureStorage

  private final class Backend: Sendable {
    let storage: Mutex<any SecureStorage>
    init(_ storage: any SecureStorage) { self.storage = Mutex(storage) }
  }

  let rule: StorageContract
  private let backend: Backend
  private let restart: Restart?
  /// The closure that unlocks the storage again.
  let unlock: Unlock
  let service: String
  /// The name of a second service, of which the first one is a prefix.
  let otherService: String

  init(
    _ rule: StorageContract, _ storage: any SecureStorage, _ unlock: @escaping Unlock,
    _ restart: Restart?
  ) {
    self.rule = rule
    backend = Backend(storage)
    self.unlock = unlock
    self.restart = restart
    service = "swift-keyring-contract-\(String.randomToken())"
    otherService = service + "-other"
  }

  /// The storage, or the one that the last restart has returned.
  var storage: any SecureStorage { backend.storage.withLock { $0 } }

  /// Ends the backend, and goes on with the storage of the backend that was started again.
  func restart(after ending: StorageContract.Ending) throws {
    guard let restart else {
      throw violation(
        "the storage's durability is \(storage.durability), and verify has no closure to restart it"
      )
    }
    let storage = try restart(ending)
    backend.storage.withLock { $0 = storage }
  }

  /// The internet passwords of a server with the name of the service.
  var ofServer: ItemQuery { ItemQuery(kind: .internetPassword, attributes: ["server": service]) }

  func removeEverything() throws {
    try storage.removeItems(matching: .service(service))
    try storage.removeItems(matching: .service(otherService))
    try storage.removeItems(matching: ofServer)
  }
}

// MARK: - Items

extension ContractTrial {
  func password(_ account: String = "account") -> ItemKey {
    .password(service: service, account: account)
  }

  func credentials(_ label: String = "label") -> ItemKey {
    .credentials(service: service, label: label)
  }

  /// The credential with a label.
  func credential(_ label: String = "label") -> StoredValue<Credential> {
    storage[credentials(label), as: .credential]
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

  func violation(_ finding: String) -> ContractViolation {
    ContractViolation(rule: rule, finding: finding)
  }

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
