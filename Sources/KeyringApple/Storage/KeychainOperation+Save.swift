// SPDX-License-Identifier: Apache-2.0

internal import KeyringRuntime
internal import KeyringStorage

extension KeychainOperation {
  /// The number of times that an operation begins again because another one was quicker.
  private static let rounds = 1000

  /// Adds an item, or returns `false` for a key that is taken.
  func add(_ item: SecureItem) throws(SecureStorageError) -> Bool {
    let name = KeychainName(item.key, isFileBased: keychain.isFileBased)
    let group = name.group ?? knownGroup
    guard item.secret != nil else {
      if let query = try query(for: item.key), try exists(query) { return false }
      _ = try storage.requireSecret(item)
      return false
    }
    // The keychain would take it for another item if that one has the other form of no authentication type.
    if keychain.isFileBased, !name.isExact, try query(for: item.key) != nil { return false }
    var new = item
    new.label = item.label ?? item.key.defaultLabel
    var entries = name.entries.merging(new.entries) { $1 }
    entries[KeychainAttributes.entry(of: name.itemClass)] = KeychainAttributes.value(
      item.attributes ?? [:], of: name.itemClass)
    if !keychain.isFileBased {
      entries[.accessGroup] = group.map { .text($0) }
      entries.merge(protection) { $1 }
    }
    guard let added = try add(entries) else { return false }
    if group == nil, let group = added[.accessGroup]?.string { storage.knowledge.ownGroup = group }
    return true
  }

  /// The time in which an item can be read, and the confirmation that this needs.
  var protection: KeychainDictionary {
    let level = keychain.level.constant
    return keychain.accessControl.isEmpty
      ? [.accessible: .constant(level)]
      : [.accessControl: .accessControl(level, flags: keychain.accessControl.rawValue)]
  }

  /// Changes parts of an item, all of them in one call, or returns `false` for a missing one.
  func change(_ item: SecureItem) throws(SecureStorageError) -> Bool {
    guard let key = try query(for: item.key) else { return false }
    let itemClass = KeychainName(item.key, isFileBased: keychain.isFileBased).itemClass
    let entry = KeychainAttributes.entry(of: itemClass)
    let new = KeychainAttributes.listed(item.attributes ?? [:])
    for _ in 0..<Self.rounds {
      var (query, changes) = (key, item.entries)
      if !new.isEmpty {
        var search = key
        search[.returnsAttributes] = .boolean(true)
        guard let found = try found(search).first else { return false }
        guard let old = KeychainAttributes.attributes(found, of: itemClass) else {
          throw storage.error(
            .invalidArgument, during: name,
            message: "The item of another program has no room for attributes.",
            recoverySuggestion: "Save only the secret, the label and the comment.",
            argument: "attributes")
        }
        // The change takes place only if nobody has changed the attributes since. That an item of another
        // program has none can't be a condition.
        query[entry] = found[entry]
        let all = old.merging(item.attributes ?? [:]) { $1 }
        changes[entry] = KeychainAttributes.value(all, of: itemClass)
      }
      if changes.isEmpty { return try exists(key) }
      if try update(query, changes) {
        guard isEmptying(changes) else { return true }
        if try empty(key, changes) { return true }
      }
      // Without such a condition, the item is absent. In the file, another program may just have changed it.
      if query == key, !keychain.isFileBased { return false }
      guard try exists(key) else { return false }
    }
    throw busy()
  }

  /// Gives an item of the file an empty secret if the update has left the old one.
  ///
  /// It's added again, so an end of the program in between loses an item whose secret was to go. Nobody knows yet
  /// whether a Mac needs this: `Scripts/first-mac` tells.
  private func empty(
    _ key: KeychainDictionary, _ changes: KeychainDictionary
  ) throws(SecureStorageError) -> Bool {
    var search = key
    search[.returnsAttributes] = .boolean(true)
    search[.returnsData] = .boolean(true)
    guard let old = try found(search).first else { return false }
    if old[.data] ?? changes[.data] == changes[.data] { return true }
    var former = old.merging(key) { $1 }
    for entry in [KeychainEntry.creationDate, .modificationDate, .matchedItems] {
      former[entry] = nil
    }
    let new = former.merging(changes) { $1 }
    // A task that is cancelled in between loses nothing.
    return try Cancellation.$current.withValue(nil) {
      Result { () throws(SecureStorageError) in
        guard try delete(key) else { return false }
        do throws(SecureStorageError) {
          return try add(new) != nil
        } catch {
          // The old item is better than none.
          _ = try? add(former)
          throw error
        }
      }
    }.get()
  }

  /// Stores an item, over an old one or as a new one.
  func store(_ item: SecureItem) throws(SecureStorageError) {
    for _ in 0..<Self.rounds {
      if try change(item) { return }
      if try add(item) { return }
    }
    throw busy()
  }

  private func busy() -> SecureStorageError {
    storage.error(
      .other, during: name, message: "Other programs change the item all the time.",
      recoverySuggestion: "Try again later.")
  }
}
