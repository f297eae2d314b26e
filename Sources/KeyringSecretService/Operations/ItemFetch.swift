// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
internal import KeyringStorage

extension ItemQuery.Details {
  /// The attributes alone, which determine the key.
  ///
  /// This option has no effect together with the metadata, which includes the attributes.
  static let attributes = ItemQuery.Details(rawValue: 1 << 8)
}

/// The messages that request details of items; all of them are sent concurrently.
struct ItemFetch {
  let paths: [ObjectPath]
  let details: ItemQuery.Details
  let messages: [MethodCall]
  /// The groups of items whose secrets the last messages request, one group for each message.
  fileprivate let groups: [ArraySlice<ObjectPath>]

  init(_ paths: [ObjectPath], _ details: ItemQuery.Details, in session: SecretSession) {
    self.paths = paths
    self.details = details
    // An answer above 64 MiB ends the provider's connection, and some providers end with it. Each group is
    // small enough for its answer to stay below that size if every secret is as large as it can be.
    let size = (60 << 20) / ItemLimits.secretBytes
    groups =
      details.contains(.secret)
      ? stride(from: 0, to: paths.count, by: size).map { paths[$0...].prefix(size) } : []
    let items =
      if details.contains(.metadata) {
        paths.map { MethodCall.properties(of: $0) }
      } else if details.contains(.attributes) {
        paths.map { MethodCall.attributes(ofItem: $0) }
      } else {
        [MethodCall]()
      }
    messages = items + groups.map { .getSecrets(Array($0), session: session.path) }
  }
}

/// The fetched details of items, by path.
struct FetchedItems {
  fileprivate(set) var properties: [ObjectPath: StoredItem] = [:]
  fileprivate(set) var secrets: [ObjectPath: Secret] = [:]
  /// Items of this package whose secret never arrived, because the provider died first.
  fileprivate(set) var incomplete: Set<ObjectPath> = []

  /// Returns the provider's item at a path, or `nil` if the item is gone.
  func stored(at path: ObjectPath) -> StoredItem? {
    let item = properties[path]
    item?.secret = secrets[path]
    return item
  }

  /// The items for which more than the attributes must be fetched.
  ///
  /// Their attributes are hidden, or they don't show which of several items of this package with the same
  /// key is the valid one.
  var unclear: [ObjectPath] {
    let hidden = properties.values.filter { !$0.showsAttributes || $0.hasHiddenAttributes }
    let own = Dictionary(grouping: properties.values.filter(\.isOwn), by: \.key)
    return hidden.map(\.path) + own.values.filter { $0.count > 1 }.joined().map(\.path)
  }

  /// The items that show no attributes: another look tells those that have none from those that are being removed.
  var withoutAttributes: [ObjectPath] {
    properties.values.filter { !$0.showsAttributes }.map(\.path)
  }

  /// Replaces the properties of items with properties that were fetched later.
  mutating func update(_ paths: [ObjectPath], from other: FetchedItems) {
    for path in paths { properties[path] = other.properties[path] }
  }

  /// Returns the item at a path with the requested details.
  ///
  /// The result is `nil` if the details aren't available, because the item is gone or locked.
  func item(_ key: ItemKey, at path: ObjectPath, _ details: ItemQuery.Details) -> SecureItem? {
    if details.contains(.secret), secrets[path] == nil { return nil }
    guard details.contains(.metadata) else { return SecureItem(key: key, secret: secrets[path]) }
    guard let stored = properties[path], !stored.isLocked, stored.showsAttributes else {
      return nil
    }
    return stored.item(key, secret: secrets[path], details: details)
  }
}

extension Operation {
  /// Fetches the requested details of items.
  ///
  /// Items that are gone are left out, and so are the secrets of locked items.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - onFlight: A closure that receives the number of answered messages after each flight.
  /// - Returns: The fetched details.
  /// - Throws: `SecureStorageError` if one of the messages fails.
  func contents(
    of request: ItemFetch, onFlight: (Int) -> Void = { _ in }
  ) async throws(SecureStorageError) -> FetchedItems {
    try await contents(
      of: Set(request.paths), request,
      try await send(request.messages, acceptingRefusals: true, onFlight: onFlight))
  }

  /// Reads the answers to a request, without the secrets of items that are no longer wanted.
  func contents(
    of wanted: Set<ObjectPath>, _ request: ItemFetch, _ answers: [Variant?]
  ) async throws(SecureStorageError) -> FetchedItems {
    var contents = FetchedItems()
    if wanted.isEmpty { return contents }
    let refused = try read(answers, to: request, wanted, into: &contents)
    if !refused.isEmpty {
      let secrets = try await send(
        refused.map { .getSecrets([$0], session: session.path) })
      try read(secrets: secrets, of: wanted, into: &contents)
    }
    for (path, secret) in contents.secrets where secret.count == 0 {
      try await settleEmptySecret(of: path, in: &contents)
    }
    return contents
  }

  /// Reads the answers to a request.
  ///
  /// - Returns: The wanted items whose secrets the provider refused together with those of other items.
  private func read(
    _ answers: [Variant?], to request: ItemFetch, _ wanted: Set<ObjectPath>,
    into contents: inout FetchedItems
  ) throws(SecureStorageError) -> [ObjectPath] {
    let groups = request.groups
    for (path, answer) in zip(request.paths, answers.dropLast(groups.count)) {
      contents.properties[path] = answer.flatMap {
        StoredItem(path: path, answer: $0, from: provider)
      }
    }
    let secrets = answers.suffix(groups.count)
    try read(secrets: secrets, of: wanted, into: &contents)
    // Some providers refuse a whole group if one of its items is gone.
    return zip(groups, secrets).filter { $0.count > 1 && $1 == nil }.flatMap(\.0)
      .filter(wanted.contains)
  }

  /// Decrypts the secrets of the wanted items.
  private func read(
    secrets answers: some Collection<Variant?>, of wanted: Set<ObjectPath>,
    into contents: inout FetchedItems
  ) throws(SecureStorageError) {
    for entry in answers.flatMap({ $0?.child(0).children ?? [] }) {
      let path = ObjectPath(entry.child(0).text)
      // A locked item has no secret, even if the provider answers with one.
      guard wanted.contains(path), contents.properties[path]?.isLocked != true else { continue }
      guard let secret = decode(entry.child(1)) else { throw unusableSession() }
      contents.secrets[path] = secret
    }
  }

  /// Finds out what an empty secret means, and updates the contents.
  ///
  /// An item has an empty secret for one of three reasons:
  ///
  /// - It was stored that way. An item of this package has an attribute that says so.
  /// - The item is locked. Some providers answer with an empty secret then.
  /// - The provider died after it wrote the item's attributes and before it wrote the secret.
  private func settleEmptySecret(
    of path: ObjectPath, in contents: inout FetchedItems
  ) async throws(SecureStorageError) {
    contents.secrets[path] = nil
    let question = MethodCall.isLocked(path.collection)
    let answers = try await send([
      question, .properties(of: path), .getSecrets([path], session: session.path), question,
    ])
    for answer in [answers[0], answers[3]] {
      guard let answer, try !isLocked(answer) else { return }
    }
    guard let answer = answers[1],
      let stored = StoredItem(path: path, answer: answer, from: provider),
      !stored.isLocked,
      let entry = answers[2]?.child(0).children.first, let secret = decode(entry.child(1))
    else { return }
    if secret.count == 0, stored.isOwn, !stored.hasEmptySecret {
      contents.incomplete.insert(path)
    } else {
      contents.secrets[path] = secret
    }
  }
}
#endif
