// SPDX-License-Identifier: Apache-2.0

internal import KeyringRuntime
internal import KeyringStorage

/// The calls of one operation, with what all of them need.
struct KeychainOperation {
  let storage: AppleKeychainStorage
  let name: SecureStorageError.Operation
  private let calls: any KeychainCalls
  private let mayAsk: Bool

  var keychain: AppleKeychainStorage.Keychain { storage.keychain }

  /// Begins an operation.
  ///
  /// - Parameters:
  ///   - storage: The storage.
  ///   - name: The operation that errors name.
  ///   - mayAsk: `false` for a caller that wants no question to the user.
  /// - Throws: `.noStorage` on systems other than Apple's.
  init(
    _ storage: AppleKeychainStorage, _ name: SecureStorageError.Operation, mayAsk: Bool = true
  ) throws(SecureStorageError) {
    guard let calls = storage.calls else {
      throw storage.error(
        .noStorage, during: name, message: "This system has no keychain of Apple's.",
        recoverySuggestion: "Use another storage here.")
    }
    self.storage = storage
    self.name = name
    self.calls = calls
    self.mayAsk = mayAsk && storage.keychain.interaction == .allowed
  }

  // MARK: - Calls

  /// Returns the items that a query finds.
  ///
  /// A program that lacks an entitlement also finds nothing. So an empty result needs the proof of one.
  func found(_ query: KeychainDictionary) throws(SecureStorageError) -> [KeychainDictionary] {
    let query = inKeychain(query, asks: true)
    let result = try call { calls.copyMatching(query) }
    switch result.status {
    case KeychainStatus.success: storage.knowledge.isEntitled = true
    case KeychainStatus.itemNotFound: try verifyEntitlement()
    default: throw failure(result.status, of: "SecItemCopyMatching", query)
    }
    return result.items
  }

  /// Adds an item, and returns its attributes, or `nil` for a key that is taken.
  func add(_ entries: KeychainDictionary) throws(SecureStorageError) -> KeychainDictionary? {
    var entries = inKeychain(entries)
    entries[.returnsAttributes] = .boolean(true)
    let result = try call { calls.add(entries) }
    switch result.status {
    case KeychainStatus.success: return result.items.first ?? [:]
    case KeychainStatus.duplicateItem: return nil
    default: throw failure(result.status, of: "SecItemAdd", entries)
    }
  }

  /// Changes an item, or returns `false` for a missing one.
  func update(
    _ query: KeychainDictionary, _ changes: KeychainDictionary
  ) throws(SecureStorageError) -> Bool {
    let query = inKeychain(query, asks: true)
    return try isFound(call { calls.update(query, changes) }) { status in
      failure(status, of: "SecItemUpdate", query.merging(changes) { $1 })
    }
  }

  /// Deletes an item, or returns `false` for a missing one.
  func delete(_ query: KeychainDictionary) throws(SecureStorageError) -> Bool {
    let query = inKeychain(query)
    return try isFound(call { calls.delete(query) }) { status in
      failure(status, of: "SecItemDelete", query)
    }
  }

  /// Returns `true` for entries that at least one item has.
  func exists(_ query: KeychainDictionary) throws(SecureStorageError) -> Bool {
    var query = query
    query[.returnsAttributes] = .boolean(true)
    return try !found(query).isEmpty
  }

  private func isFound(
    _ status: Int32, _ failure: (Int32) -> SecureStorageError
  ) throws(SecureStorageError) -> Bool {
    switch status {
    case KeychainStatus.success: return true
    case KeychainStatus.itemNotFound: return false
    default: throw failure(status)
    }
  }

  /// Makes a call, or throws `.canceled` before it.
  ///
  /// A call that has begun goes on to its end.
  private func call<Result>(_ body: () -> Result) throws(SecureStorageError) -> Result {
    if Cancellation.isCurrentCancelled { throw storage.error(.canceled, during: name) }
    return body()
  }

  /// Names the keychain that a call concerns, because the system would choose by itself.
  private func inKeychain(
    _ entries: KeychainDictionary, asks: Bool = false
  ) -> KeychainDictionary {
    var entries = entries
    entries[.usesDataProtection] = .boolean(!keychain.isFileBased)
    if keychain.isFileBased { return entries }
    // A reference excludes attributes.
    if entries[.persistentReference] == nil, entries[.synchronizable] == nil {
      entries[.synchronizable] = .boolean(keychain.isSynchronizable)
    }
    if asks, keychain.prompt != nil || !mayAsk {
      entries[.authenticationContext] = .context(prompt: keychain.prompt, mayAsk: mayAsk)
    }
    return entries
  }

  // MARK: - What the program may do

  /// Deletes a missing item, which only a program with an entitlement may do.
  private func verifyEntitlement() throws(SecureStorageError) {
    if keychain.isFileBased || storage.knowledge.isEntitled { return }
    let probe = inKeychain(KeychainName(.probe(), isFileBased: false).entries)
    let status = try call { calls.delete(probe) }
    guard status == KeychainStatus.itemNotFound || status == KeychainStatus.success else {
      throw failure(status, of: "SecItemDelete", probe)
    }
    storage.knowledge.isEntitled = true
  }

  /// `true` for a program with an entitlement to any group, as far as the keychain says.
  var isEntitled: Bool {
    if storage.knowledge.isEntitled { return true }
    let probe = inKeychain(KeychainName(.probe(), isFileBased: false).entries)
    return calls.delete(probe) != KeychainStatus.missingEntitlement
  }

  /// Returns the access group of keys that name none.
  ///
  /// The system tells a program its first group only with a new item.
  func ownGroup() throws(SecureStorageError) -> String {
    if let known = knownGroup { return known }
    var probe = KeychainName(.probe(), isFileBased: false).entries
    // It never leaves the device.
    probe[.synchronizable] = .boolean(false)
    let options: KeychainDictionary = [
      .data: .data(Secret("")), .accessible: .constant(.afterFirstUnlockThisDeviceOnly),
    ]
    let group = try add(probe.merging(options) { $1 })?[.accessGroup]?.string
    probe[.accessGroup] = group.map { .text($0) }
    // A task that was cancelled since leaves nothing behind either.
    let query = inKeychain(probe)
    _ = try isFound(calls.delete(query)) { failure($0, of: "SecItemDelete", query) }
    guard let group else {
      throw storage.error(.other, during: name, message: "The keychain named no access group.")
    }
    storage.knowledge.ownGroup = group
    return group
  }

  /// The access group of keys that name none, or `nil` for an unknown one.
  var knownGroup: String? { keychain.accessGroup ?? storage.knowledge.ownGroup }

  /// Returns the entries that exactly the item of a key has, or `nil` for an item that is in no access group.
  func query(for key: ItemKey) throws(SecureStorageError) -> KeychainDictionary? {
    let name = KeychainName(key, isFileBased: keychain.isFileBased)
    var query = name.entries
    if keychain.isFileBased { return query }
    var group = name.group ?? knownGroup
    if group == nil {
      guard try exists(query) else { return nil }
      group = try ownGroup()
    }
    query[.accessGroup] = group.map { .text($0) }
    return query
  }
}
