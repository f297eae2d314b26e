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
  func found(_ query: KeychainDictionary) throws(SecureStorageError) -> [KeychainDictionary] {
    let query = inKeychain(query)
    let result = try call { calls.copyMatching(query) }
    return try isFound(result.status, by: "SecItemCopyMatching", query) ? result.items : []
  }

  /// Adds an item, and returns its attributes, or `nil` for a key that is taken.
  func add(_ entries: KeychainDictionary) throws(SecureStorageError) -> KeychainDictionary? {
    var entries = inKeychain(entries)
    entries[.returnsAttributes] = .boolean(true)
    let result = try call { calls.add(entries) }
    switch result.status {
    case KeychainStatus.success:
      storage.knowledge.isUsable = true
      return result.items.first ?? [:]
    case KeychainStatus.duplicateItem: return nil
    default: throw failure(result.status, of: "SecItemAdd", entries)
    }
  }

  /// Changes an item, or returns `false` for a missing one.
  func update(
    _ query: KeychainDictionary, _ changes: KeychainDictionary
  ) throws(SecureStorageError) -> Bool {
    let query = inKeychain(query)
    var status = try call { calls.update(query, changes) }
    if isEmptying(changes), status == KeychainStatus.param {
      // The rest takes place, and the secret is looked at afterwards.
      var rest = changes
      rest[.data] = nil
      status = rest.isEmpty ? KeychainStatus.success : try call { calls.update(query, rest) }
    }
    return try isFound(status, by: "SecItemUpdate", query.merging(changes) { $1 })
  }

  /// Deletes an item, or returns `false` for a missing one.
  func delete(_ query: KeychainDictionary) throws(SecureStorageError) -> Bool {
    let query = inKeychain(query)
    return try isFound(call { calls.delete(query) }, by: "SecItemDelete", query)
  }

  /// Returns `true` for entries that at least one item has.
  func exists(_ query: KeychainDictionary) throws(SecureStorageError) -> Bool {
    var query = query
    query[.returnsAttributes] = .boolean(true)
    return try !found(query).isEmpty
  }

  /// Returns `true` for changes of an item in the file that leave it without a secret.
  func isEmptying(_ changes: KeychainDictionary) -> Bool {
    keychain.isFileBased && changes[.data] == .data(Secret(""))
  }

  /// Returns `false` for an item that wasn't found, in a keychain that can be used.
  private func isFound(
    _ status: Int32, by function: String, _ query: KeychainDictionary
  ) throws(SecureStorageError) -> Bool {
    switch status {
    case KeychainStatus.success: return true
    case KeychainStatus.itemNotFound:
      // A file can become unreadable at any time.
      if keychain.isFileBased || !storage.knowledge.isUsable { try verifyUsable() }
      return false
    default: throw failure(status, of: function, query)
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
  private func inKeychain(_ entries: KeychainDictionary) -> KeychainDictionary {
    var entries = entries
    entries[.usesDataProtection] = .boolean(!keychain.isFileBased)
    if keychain.isFileBased { return entries }
    // A reference excludes attributes.
    if entries[.persistentReference] == nil, entries[.synchronizable] == nil {
      entries[.synchronizable] = .boolean(keychain.isSynchronizable)
    }
    // Even adding can ask, about the item that is in the way.
    if keychain.prompt != nil || !mayAsk {
      entries[.authenticationContext] = .context(prompt: keychain.prompt, mayAsk: mayAsk)
    }
    return entries
  }

  // MARK: - What the program may do

  /// Confirms that the keychain can be used, or throws the reason why it can't.
  ///
  /// A search also finds nothing without an entitlement, before the first unlock, and in a file that can't be opened.
  private func verifyUsable() throws(SecureStorageError) {
    if !keychain.isFileBased { return try learnGroup() }
    let status = try call { calls.status() }
    guard status == KeychainStatus.success else {
      throw failure(status, of: "SecKeychainGetStatus", [:])
    }
    storage.knowledge.isUsable = true
  }

  /// `true` for a program with an entitlement to any group, as far as the keychain says.
  var isEntitled: Bool {
    if storage.knowledge.isUsable { return true }
    let probe = inKeychain(KeychainName(.probe(), isFileBased: false).entries)
    return calls.delete(probe) != KeychainStatus.missingEntitlement
  }

  /// Adds an item and deletes it, because the system tells a program its first group only with a new item.
  private func learnGroup() throws(SecureStorageError) {
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
    _ = try isFound(calls.delete(query), by: "SecItemDelete", query)
    storage.knowledge.ownGroup = group
  }

  /// Returns the access group of keys that name none.
  func ownGroup() throws(SecureStorageError) -> String {
    if knownGroup == nil { try learnGroup() }
    guard let group = knownGroup else {
      throw storage.error(.other, during: name, message: "The keychain named no access group.")
    }
    return group
  }

  /// The access group of keys that name none, or `nil` for an unknown one.
  var knownGroup: String? { keychain.accessGroup ?? storage.knowledge.ownGroup }

  /// Returns the entries that exactly the item of a key has, or `nil` for an item that is known to be absent.
  func query(for key: ItemKey) throws(SecureStorageError) -> KeychainDictionary? {
    let name = KeychainName(key, isFileBased: keychain.isFileBased)
    var query = name.entries
    if !keychain.isFileBased {
      let group = if let group = name.group { group } else { try ownGroup() }
      query[.accessGroup] = .text(group)
    } else if !name.isExact {
      query[.limit] = .constant(.limitAll)
      query[.returnsAttributes] = .boolean(true)
      query[.returnsPersistentReference] = .boolean(true)
      let found = try found(query).first { $0[.authenticationType] == nil }
      guard let reference = found?[.persistentReference] else { return nil }
      query = name.entries
      query[.matchedItems] = .list([reference])
    }
    return query
  }
}
