// SPDX-License-Identifier: Apache-2.0

internal import KeyringStorage

/// A storage in one case of the contract, with the keys to use and the way to report violations.
struct ContractTrial: Sendable {
  typealias Unlock = @Sendable (any LockableStorage) throws -> Void

  let rule: StorageContract
  let storage: any SecureStorage
  /// The closure that unlocks the storage again.
  let unlock: Unlock
  let service: String
  /// The name of a second service, of which the first one is a prefix.
  let otherService: String

  init(_ rule: StorageContract, _ storage: any SecureStorage, _ unlock: @escaping Unlock) {
    self.rule = rule
    self.storage = storage
    self.unlock = unlock
    service = "swift-keyring-contract-\(String.randomToken())"
    otherService = service + "-other"
  }

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

  func removeEverything() throws {
    try storage.removeItems(matching: .service(service))
    try storage.removeItems(matching: .service(otherService))
    try storage.server(InternetServer(service)).removeAll()
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
}
