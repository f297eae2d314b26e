#if SecretService && os(Linux)
internal import KeyringStorage

extension ItemQuery.Details {
  /// The attributes alone, which tell the key; without effect beside the metadata, which has them.
  static let attributes = ItemQuery.Details(rawValue: 1 << 8)
}

/// The messages that ask for what is wanted of items; all of them travel side by side.
struct ItemRequest {
  let paths: [ObjectPath]
  let details: ItemQuery.Details
  let messages: [Message]
  /// Which items' secrets each of the last messages asks for.
  fileprivate let groups: [ArraySlice<ObjectPath>]

  init(_ paths: [ObjectPath], _ details: ItemQuery.Details, in session: SecretSession) {
    self.paths = paths
    self.details = details
    // An answer above 64 MiB ends the keyring's connection, and with it gnome-keyring 42. So none
    // may hold more secrets than stay below that when each is as large as one can be.
    let size = (60 << 20) / ItemLimits.secretBytes
    groups =
      details.contains(.secret)
      ? stride(from: 0, to: paths.count, by: size).map { paths[$0...].prefix(size) } : []
    let items =
      if details.contains(.metadata) {
        paths.map { Message.properties(of: $0) }
      } else if details.contains(.attributes) {
        paths.map { Message.attributes(ofItem: $0) }
      } else {
        [Message]()
      }
    messages = items + groups.map { .getSecrets(Array($0), session: session.path) }
  }
}

/// What is wanted of items, by their paths.
struct ItemContents {
  fileprivate(set) var properties: [ObjectPath: StoredItem] = [:]
  fileprivate(set) var secrets: [ObjectPath: Secret] = [:]
  /// Items of this package whose secret has never arrived, because the provider died before.
  fileprivate(set) var incomplete: Set<ObjectPath> = []

  /// What the provider has at a path; `nil` when the item is gone.
  func stored(at path: ObjectPath) -> StoredItem? {
    var item = properties[path]
    item?.secret = secrets[path]
    return item
  }

  /// The items of which more must be fetched than the attributes: they are hidden, or do not tell which of
  /// several items of this package with the same key is the valid one.
  var unclear: [ObjectPath] {
    let hidden = properties.values.filter { !$0.showsAttributes || $0.hasHiddenAttributes }
    let own = Dictionary(grouping: properties.values.filter(\.isOwn)) { stored in
      ItemKey(itemAttributes: stored.attributes)
    }
    return hidden.map(\.path) + own.values.filter { $0.count > 1 }.joined().map(\.path)
  }

  /// Takes over what has been fetched of items once more.
  mutating func update(_ paths: [ObjectPath], from other: ItemContents) {
    for path in paths { properties[path] = other.properties[path] }
  }

  /// The item at a path with as much as was asked for; `nil` when that was not to be had, because
  /// the item is gone or locked.
  func item(_ key: ItemKey, at path: ObjectPath, _ details: ItemQuery.Details) -> SecureItem? {
    if details.contains(.secret), secrets[path] == nil { return nil }
    guard details.contains(.metadata) else { return SecureItem(key: key, secret: secrets[path]) }
    guard let stored = properties[path], !stored.isLocked, stored.showsAttributes else {
      return nil
    }
    return stored.item(key, secret: secrets[path], details: details)
  }
}

extension Call {
  /// Fetches what is wanted of items; those that are gone are left out, and the secrets of those
  /// that are locked.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - onFlight: Called with the number of messages that were answered, after each flight.
  /// - Returns: What was fetched.
  /// - Throws: `SecureStorageError` if one of the messages fails.
  func contents(
    of request: ItemRequest, onFlight: (Int) -> Void = { _ in }
  ) async throws(SecureStorageError) -> ItemContents {
    try await contents(
      of: Set(request.paths), request,
      try await send(request.messages, acceptingRefusals: true, onFlight: onFlight))
  }

  /// Reads the answers to a request, and no secret of an item that is not wanted any more.
  func contents(
    of wanted: Set<ObjectPath>, _ request: ItemRequest, _ answers: [Variant?]
  ) async throws(SecureStorageError) -> ItemContents {
    var contents = ItemContents()
    if wanted.isEmpty { return contents }
    let groups = request.groups
    for (path, answer) in zip(request.paths, answers.dropLast(groups.count)) {
      contents.properties[path] = answer.flatMap {
        request.details.contains(.metadata)
          ? StoredItem(path: path, properties: $0) : StoredItem(path: path, attributes: $0)
      }
    }
    var secrets = Array(answers.suffix(groups.count))
    // One that is gone makes KWallet 5.103 answer for none of its group.
    let refused = zip(groups, secrets).filter { $0.count > 1 && $1 == nil }.flatMap(\.0)
    secrets += try await send(
      refused.filter(wanted.contains).map { .getSecrets([$0], session: session.path) })
    for entry in secrets.flatMap({ $0?.child(0).children ?? [] }) {
      let path = ObjectPath(entry.child(0).text)
      // What is locked has none, whatever KWallet 5.103 says.
      guard wanted.contains(path), contents.properties[path]?.isLocked != true else { continue }
      guard let secret = session.decode(entry.child(1)) else { throw unusableSession() }
      contents.secrets[path] = secret
    }
    for (path, secret) in contents.secrets where secret.count == 0 {
      try await settleEmptySecret(of: path, in: &contents)
    }
    return contents
  }

  /// Finds out what an empty secret means, which an item has for one of three reasons.
  ///
  /// It was stored so: an item of this package says that itself. Or it is locked: KWallet 5.103 answers
  /// so. Or the provider has died after it wrote the item's attributes and before it wrote the secret.
  private func settleEmptySecret(
    of path: ObjectPath, in contents: inout ItemContents
  ) async throws(SecureStorageError) {
    contents.secrets[path] = nil
    let question = Message.isLocked(path.collection)
    let answers = try await send([
      question, .properties(of: path), .getSecrets([path], session: session.path), question,
    ])
    for answer in [answers[0], answers[3]] {
      guard let answer, try !isLocked(answer) else { return }
    }
    guard let properties = answers[1],
      let stored = StoredItem(path: path, properties: properties), !stored.isLocked,
      let entry = answers[2]?.child(0).children.first, let secret = session.decode(entry.child(1))
    else { return }
    if secret.count == 0, stored.isOwn, !stored.hasEmptySecret {
      contents.incomplete.insert(path)
    } else {
      contents.secrets[path] = secret
    }
  }
}
#endif
