// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
internal import KeyringStorage

extension ItemWriter {
  /// Stores an item, so that the old one or the new one is there at every moment (Decisions/0002).
  func save(_ item: SecureItem, mode: SaveMode) async throws(SecureStorageError) {
    let extra = item.attributes ?? [:]
    try refuseUnusable(
      extra.isEmpty ? item.key.attributes : item.key.attributes.setting(extra), of: item.key)
    if let secret = item.secret, call.provider.refuses(secret) {
      throw call.failure(
        .invalidArgument, "\(call.provider.keyringName) can't store a secret with \"{REF:…}\".",
        recoverySuggestion: "Store it in another keyring.", argument: "secret")
    }
    // What an addition doesn't find may be in another collection.
    call.createsCollection = mode == .addOrReplace
    var vanished: Set<ObjectPath> = []
    // While an item was locked, another one may have appeared.
    try await call.repeatingRefusedChanges { () async throws(SecureStorageError) in
      while try await !saveUndisturbed(item, mode: mode, &vanished) { try call.checkRepetition() }
    }
  }

  /// Stores an item, and returns `false` if another program interfered.
  private func saveUndisturbed(
    _ item: SecureItem, mode: SaveMode, _ vanished: inout Set<ObjectPath>
  ) async throws(SecureStorageError) -> Bool {
    let (stored, incomplete, areOnDisk) = try await replaceableItems(by: item, mode: mode)
    if mode == .add, !stored.isEmpty { throw call.failure(.itemAlreadyExists) }
    // Another program may just be adding the item. The wait for it is outside of this operation.
    if turn?.isWaiting == true { throw call.failure(.timedOut) }
    if let expectation {
      try await expectation.check(stored.first, finder)
      if expectation.isBroken { return true }
    }
    if mode == .update, stored.isEmpty { throw call.failure(.itemNotFound) }
    guard let valid = stored.first else {
      // A second item beside one of these would be refused or removed. The save fails if the keyring refuses to
      // remove one.
      try await remove(incomplete)
      return try await create(item, mode: mode)
    }
    try await removeIfPossible(incomplete)
    // The revision is higher than those of the incomplete items, too, in case one of them stays.
    let revision = (([valid] + incomplete).map(\.revision).max() ?? 0) + 1
    let onDisk = areOnDisk ? revision : 0
    switch try await replace(valid, by: item, revision, onDisk: onDisk) {
    case .done:
      try await removeIfPossible(superseded(stored, onDisk: onDisk))
      return true
    case .elsewhere:
      // One of the items that were found may be the valid one now.
      return true
    case .vanished:
      // Some providers also report that if they computed another key for the session. A new session solves
      // that.
      if !vanished.insert(valid.path).inserted { throw call.unusableSession() }
      return false
    }
  }

  /// Finds the items stored under a key, and separates those whose secret was lost.
  ///
  /// If several items of other programs match, none of them can be replaced, and an addition fails.
  ///
  /// - Parameters:
  ///   - item: The item to save.
  ///   - mode: The mode of the save.
  /// - Returns: The items, and whether all of them are known to be on disk.
  /// - Throws: The reason why the items can't be examined.
  private func replaceableItems(
    by item: SecureItem, mode: SaveMode
  ) async throws(SecureStorageError)
    -> (stored: [StoredItem], incomplete: [StoredItem], areOnDisk: Bool)
  {
    let key = item.key
    let stored: [StoredItem]
    do throws(SecureStorageError) {
      // An addition that finds an item changes nothing, so nothing could be refused.
      stored = try await finder.storedItems(
        for: key, needsAttributesOnly: mode != .add && item.hasSecretOnly)
    } catch {
      throw mode == .add && error.code == .ambiguous ? call.failure(.itemAlreadyExists) : error
    }
    let own = stored.filter(\.isOwn)
    // A single item is replaced regardless of its secret, so the secret isn't fetched.
    let isRegardless = mode == .addOrReplace && (item.secret != nil || !call.provider.delaysSecrets)
    guard own.count > (isRegardless ? 1 : 0) else { return (stored, [], false) }
    let request = ItemFetch(own.map(\.path), .secret, in: call.session)
    // With a single item, nothing can be removed afterwards.
    let question: [MethodCall] =
      own.count > 1 && call.provider.quietTime != nil
      ? [.modified(ofCollection: own[0].path.collection)] : []
    var answers = try await call.send(request.messages + question)
    let areOnDisk = question.isEmpty ? false : call.wasQuiet(answers.removeLast())
    let incomplete = try await finder.contents(of: Set(request.paths), request, answers).incomplete
    if incomplete.isEmpty { return (stored, [], areOnDisk) }
    return (
      try await finder.storedItems(for: key, ignoring: incomplete),
      own.filter { incomplete.contains($0.path) }, areOnDisk
    )
  }

  // MARK: New items

  /// Creates an item, and returns `false` if an addition found another item and was undone.
  private func create(
    _ item: SecureItem, mode: SaveMode
  ) async throws(SecureStorageError) -> Bool {
    let secret = try call.storage.requireSecret(item)
    let attributes = item.key.newAttributes.setting(item.attributes ?? [:])
      .marking(secret)
    let label = item.label ?? item.key.defaultLabel
    // `CreateItem` doesn't replace an item with other attributes. An item that another process creates at
    // this moment would stay next to this one.
    let mayBeBeside =
      mode == .add || item.attributes?.isEmpty == false || secret.count == 0
      || mayNeedBinaryForm(secret) || !call.provider.changesOneItem
    let created = try await createAnotherItem(
      besides: mayBeBeside ? item.key : nil, attributes: attributes, label: label, secret: secret,
      replacing: mode != .add)
    if mode == .add {
      if !created.isAlone, try await !isFirst(created.path, under: item.key) {
        try await delete([created.path])
        return false
      }
    } else if mayBeBeside, !created.isAlone {
      try await removeSuperseded(item.key)
    }
    finder.record(created.path, of: item.key)
    return true
  }

  /// Returns `true` for the first of several concurrent additions.
  private func isFirst(
    _ path: ObjectPath, under key: ItemKey
  ) async throws(SecureStorageError) -> Bool {
    let own = try await finder.storedItems(for: key).filter(\.isOwn)
    // Another program has removed the item since. That doesn't undo the addition.
    if own.isEmpty { return true }
    // If paths don't show the order of two items of the same second, neither is the first.
    return own.first?.path == path && (own.count == 1 || call.provider.keepsItemPaths)
  }
}

extension SecureItem {
  /// `true` for an item to save that can change only the secret of the one that is there.
  fileprivate var hasSecretOnly: Bool {
    secret != nil && label == nil && attributes?.isEmpty != false
  }
}
#endif
