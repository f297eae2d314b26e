// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)

extension ItemFinder {
  /// Fetches the requested details of items.
  ///
  /// Deleted items are left out, and so are the secrets of locked items.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - onFlight: A closure that receives the number of answered messages after each flight.
  /// - Returns: The fetched details.
  /// - Throws: The failure of a message.
  func contents(
    of request: ItemFetch, onFlight: (Int) -> Void = { _ in }
  ) async throws(SecureStorageError) -> FetchedItems {
    try await contents(
      of: Set(request.paths), request,
      try await call.send(request.messages, acceptingRefusals: true, onFlight: onFlight))
  }

  /// Reads the answers to a request, with the secrets of the items that are still wanted.
  func contents(
    of wanted: Set<ObjectPath>, _ request: ItemFetch, _ answers: [Variant?]
  ) async throws(SecureStorageError) -> FetchedItems {
    var contents = FetchedItems()
    if wanted.isEmpty { return contents }
    let refused = try read(answers, to: request, wanted, into: &contents)
    if !refused.isEmpty {
      let secrets = try await call.send(
        refused.map { .getSecrets([$0], session: call.session.path) })
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
        StoredItem(path: path, answer: $0, from: call.provider)
      }
    }
    let secrets = answers.suffix(groups.count)
    try read(secrets: secrets, of: wanted, into: &contents)
    // Some providers refuse a whole group if one of its items was deleted.
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
      guard let secret = decode(entry.child(1)) else { throw call.unusableSession() }
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
    let answers = try await call.send([
      question, .properties(of: path), .getSecrets([path], session: call.session.path), question,
    ])
    for answer in [answers[0], answers[3]] {
      guard let answer, try !call.isLocked(answer) else { return }
    }
    guard let answer = answers[1],
      let stored = StoredItem(path: path, answer: answer, from: call.provider),
      !stored.isLocked,
      let entry = answers[2]?.child(0).children.first, let secret = decode(entry.child(1))
    else { return }
    if secret.count == 0, stored.isOwn, !stored.hasEmptySecret {
      contents.incomplete.insert(path)
    } else {
      contents.secrets[path] = secret
    }
  }

  /// Decrypts a secret of type `(oayays)`.
  func decode(_ encoded: Variant) -> Secret? { call.session.decode(encoded)?.withoutBinaryForm }
}
#endif
