// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
internal import KeyringStorage

extension ItemWriter {
  /// The result of a replacement.
  enum Replacement {
    case done
    /// The item is no longer the valid one. Items that the valid one supersedes were removed if possible.
    case elsewhere
    /// The item had vanished before it was replaced.
    case vanished
  }

  /// Replaces an item.
  ///
  /// If the item is removed after its secret was written, the save still succeeds. An update that reported
  /// "not found" would deny a value that readers have seen.
  ///
  /// - Parameters:
  ///   - stored: The item to replace.
  ///   - item: The item to store in its place.
  ///   - revision: The revision of the new item, if one is created.
  ///   - onDisk: The revision below which all items are known to be on disk.
  ///   - attempt: The number of times that the provider has replaced another item instead. After some of
  ///     them, the secret and the label change one after the other.
  /// - Returns: The result.
  /// - Throws: The reason why the item can't be replaced.
  func replace(
    _ stored: StoredItem, by item: SecureItem, _ revision: Int, onDisk: Int, attempt: Int = 0
  ) async throws(SecureStorageError) -> Replacement {
    let extra = item.attributes ?? [:]
    let attributes = extra.isEmpty ? stored.attributes : stored.attributes.setting(extra)
    let changesAttributes = !extra.isEmpty && !attributes.hasSameBytes(stored.attributes)
    let newLabel = item.label.flatMap { $0.hasSameBytes(stored.label) ? nil : $0 }
    // Otherwise the item could lose its secret, or the change.
    let needsNewItem =
      call.provider.storesChanges
      ? call.provider.delaysSecrets && newLabel != nil
      : item.secret != nil || changesAttributes || newLabel != nil
    var secret = item.secret
    if secret == nil, needsNewItem {
      let request = ItemFetch([stored.path], .secret, in: call.session)
      secret = try await finder.contents(of: request).secrets[stored.path]
      if secret == nil { return .vanished }
    }
    guard let secret else {
      return try await changeMetadata(of: stored, as: item.key, attributes, newLabel)
        ? .done : .vanished
    }
    if changesAttributes, stored.hasFurtherSecrets {
      try refuseNewLogin(attributes, of: stored, under: item.key)
      guard try await changeMetadata(of: stored, as: item.key, attributes, nil) else {
        return .vanished
      }
    } else if needsNewItem || changesAttributes {
      if !stored.isOwn {
        _ = try await storable(secret, in: stored.path.collection, replacingThatOf: stored)
      }
      if !call.provider.storesChanges, !stored.isOwn, !changesAttributes,
        try await recreate(stored, newLabel, secret)
      {
        return .done
      }
      var attributes = attributes
      attributes[AttributeName.revision] = String(revision)
      try await replaceWithNewAttributes(stored, by: item, attributes, secret, onDisk: onDisk)
      return .done
    }
    guard stored.isOwn, attempt < 3, let newLabel else {
      return try await changeInPlace(stored, as: item.key, newLabel, secret) ? .done : .vanished
    }
    let path = try await changeAtOnce(stored, attributes, newLabel, secret)
    if path == stored.path { return .done }
    guard path != nil else { return .vanished }
    let now = try await finder.storedItems(for: item.key)
    try await removeIfPossible(superseded(now))
    guard let valid = now.first, valid.path == stored.path else { return .elsewhere }
    // The provider chose another item with the same attributes, or another program has changed the
    // attributes of the valid one.
    return try await replace(valid, by: item, revision, onDisk: onDisk, attempt: attempt + 1)
  }

  /// Changes the label and the secret of this package's item by the only message for both.
  ///
  /// - Returns: The item that the provider has changed, or `nil` for one that has vanished.
  private func changeAtOnce(
    _ stored: StoredItem, _ attributes: [String: String], _ label: String, _ secret: Secret
  ) async throws(SecureStorageError) -> ObjectPath? {
    let storable = try await storable(secret, in: stored.path.collection)
    guard try await mark(stored, for: storable) else { return nil }
    return try await createItem(
      in: stored.path.collection, attributes: attributes.marking(secret, isThere: true),
      label: label, secret: secret
    ).path
  }

  /// Changes the secret and the label one after the other, and returns `false` for an item that has vanished.
  ///
  /// Another program then finds its item as it left it. Also, some providers ask the user about every replacement.
  private func changeInPlace(
    _ stored: StoredItem, as key: ItemKey, _ label: String?, _ secret: Secret
  ) async throws(SecureStorageError) -> Bool {
    let storable = try await storable(
      secret, in: stored.path.collection, replacingThatOf: stored.isOwn ? nil : stored)
    guard try await mark(stored, for: storable),
      try await write([.setSecret(try call.encode(storable), of: stored.path)])
    else { return false }
    if let label { _ = try await write([.setLabel(label, of: stored.path)]) }
    if stored.isOwn { finder.record(stored.path, of: key) }
    return true
  }

  /// Throws an error if a new login would lose the further secrets of an item.
  private func refuseNewLogin(
    _ attributes: [String: String], of stored: StoredItem, under key: ItemKey
  ) throws(SecureStorageError) {
    guard key.kind == .credentials,
      attributes[AttributeName.username] != stored.attributes[AttributeName.username]
    else { return }
    throw call.failure(
      .other,
      "The item \"\(stored.label.excerpt)\" also has one-time codes or a passkey, which a new login would lose.",
      recoverySuggestion: "Change the login in \(call.provider.keyringName).")
  }

  /// Replaces another program's item with a new one that has exactly the same attributes.
  ///
  /// - Parameters:
  ///   - stored: The item.
  ///   - label: The new label, or `nil` to keep it.
  ///   - secret: The secret.
  /// - Returns: `false` if the provider might replace another item instead, or hasn't replaced this one.
  /// - Throws: The reason why the item can't be replaced.
  private func recreate(
    _ stored: StoredItem, _ label: String?, _ secret: Secret
  ) async throws(SecureStorageError) -> Bool {
    let collection = stored.path.collection
    let search = MethodCall.searchItems(in: collection, stored.attributes)
    guard call.itemPaths(in: try await call.send(search)) == [stored.path] else { return false }
    let path = try await createItem(
      in: collection, attributes: stored.attributes, label: label ?? stored.label, secret: secret
    ).path
    if path != stored.path {
      // The provider may count the type of the secret as one of the attributes.
      try await removeIfPossible([stored])
      guard call.itemPaths(in: try await call.send(search)) == [path] else { return false }
    }
    guard let label else { return true }
    let created = try await finder.contents(of: ItemFetch([path], .metadata, in: call.session))
    return created.stored(at: path)?.label.hasSameBytes(label) == true
  }

  /// Marks an item of this package before its secret becomes empty or takes its binary form.
  ///
  /// Without the mark, an empty secret is taken for one that never arrived.
  private func mark(
    _ stored: StoredItem, for secret: Secret
  ) async throws(SecureStorageError) -> Bool {
    if secret.count > 0, !secret.isInBinaryForm { return true }
    let attributes = stored.attributes.marking(secret, isThere: true)
      .markingBinaryForm(of: secret)
    if !stored.isOwn || attributes.hasSameBytes(stored.attributes) { return true }
    return try await write([.setAttributes(attributes, of: stored.path)])
  }

  /// Replaces an item with one that has other attributes.
  ///
  /// If secrets are written late, the replaced item stays. Another program's item becomes this package's then, as the
  /// predecessor of the new one. If it can't become this package's, the new item has a mark.
  private func replaceWithNewAttributes(
    _ stored: StoredItem, by item: SecureItem, _ attributes: [String: String], _ secret: Secret,
    onDisk: Int
  ) async throws(SecureStorageError) {
    var attributes = attributes.setting(item.key.ownAttributes).marking(secret)
    try refuseUnusable(attributes, of: item.key)
    if stored.firstStored > 0 {
      attributes[AttributeName.firstStored] = String(stored.firstStored)
    }
    let keepsReplaced = call.provider.delaysSecrets
    let adopts = keepsReplaced && !stored.isOwn
    if adopts, !call.provider.storesChanges { attributes[AttributeName.successor] = "yes" }
    let adoption =
      adopts && call.provider.storesChanges
      ? MethodCall.setAttributes(stored.attributes.adopted(as: item.key), of: stored.path) : nil
    let created = try await createAnotherItem(
      besides: item.key, in: stored.path.collection, attributes: attributes,
      label: item.label ?? stored.label, secret: secret, after: adoption)
    // If the user declines the first removal, the second one doesn't ask again.
    try await cleaningUp { () async throws(SecureStorageError) in
      if !keepsReplaced, created.path != stored.path { try await remove([stored]) }
      if created.beside.map({ Set($0).isSubset(of: [stored.path]) }) != true {
        try await removeSuperseded(item.key, onDisk: onDisk)
      }
    }
    finder.record(created.path, of: item.key)
  }

  /// Changes the attributes if they differ, and the label if there is a new one; returns `false` if the item vanished.
  ///
  /// With other attributes, an item of another program would be another item, unless it becomes this package's.
  private func changeMetadata(
    of stored: StoredItem, as key: ItemKey, _ attributes: [String: String], _ label: String?
  ) async throws(SecureStorageError) -> Bool {
    var messages: [MethodCall] = []
    if !attributes.hasSameBytes(stored.attributes) {
      let attributes = stored.isOwn ? attributes : attributes.adopted(as: key)
      messages.append(.setAttributes(attributes, of: stored.path))
    }
    if let label { messages.append(.setLabel(label, of: stored.path)) }
    return try await write(messages)
  }
}
#endif
