// SPDX-License-Identifier: Apache-2.0

internal import KeyringRuntime
internal import KeyringStorage
internal import Synchronization

/// A storage in one case of the contract, with the services of its items.
struct TrialSubject: Sendable {
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

  func violation(_ finding: String) -> ContractViolation {
    ContractViolation(rule: rule, finding: finding)
  }
}
