// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
internal import KeyringPlatform
internal import KeyringRuntime

// An item that isn't found is absent if no other collection may have it: neither one whose file the provider
// doesn't list, nor one that was the default collection. Otherwise, a program would generate a second key, or
// sign its user out.

/// Tells an absent item from one in a collection that the provider hides.
struct HiddenCollections {
  let call: Operation

  /// Throws an error for an unlisted file that may have items of the storage's collection, which is there.
  ///
  /// A provider reads its files when it starts, so each session looks once. In most directories, the names of the files
  /// tell enough, and no message is sent.
  func confirmThatNoneIsElsewhere() async throws(SecureStorageError) {
    guard call.provider.keepsCollectionsInFiles,
      call.session.confirmed[call.options.collection] == nil
    else {
      return
    }
    let mayHaveOthers = try looking { () throws(FileFailure) in
      try CollectionFile.directories.map(CollectionFile.mayHaveReplacements).contains(true)
    }
    if mayHaveOthers { try await refuseUnlistedFile() }
    call.session.confirmed[call.options.collection] = true
  }

  /// Throws an error for a keyring that lacks the storage's collection, and may have its items.
  ///
  /// A new keyring is empty, without a collection or a file.
  ///
  /// - Returns: `false` if there is a collection by now.
  func confirmThatThereIsNoCollection() async throws(SecureStorageError) -> Bool {
    try call.expectNoCollection()
    try await refuseUnlistedFile()
    switch call.options.collection {
    case .default: return try await confirmThatThereIsNoDefault()
    case .named: try await refuseHidden(call.collections())
    case .session: break
    }
    return true
  }

  /// Throws an error if another collection may be, or may have been, the default one.
  ///
  /// An operation that creates the default collection goes on after one was deleted, and stops at a hidden one.
  ///
  /// - Returns: `false` if there is a default collection by now.
  func confirmThatThereIsNoDefault() async throws(SecureStorageError) -> Bool {
    let object = ObjectPath.collection(aliased: "default")
    let answers = try await call.send([.isLocked(object), .readAlias("default"), .collections()])
    if answers[0] != nil { return false }
    let others = try call.collections(answers[2]).filter {
      !$0.text.hasSuffix("/collection/session")
    }
    let alias = ObjectPath(answers[1]?.child(0).text ?? "/")
    if alias.isNone {
      if others.isEmpty || call.createsCollection { return true }
      let labels = try await call.labeledCollections().filter { others.contains($0.path) }
        .map { "\"\($0.label)\"" }.joined(separator: ", ").excerpt
      throw hiding(
        "The keyring has no default collection, but others: \(labels).",
        recoverySuggestion: "Make one of them the default collection in your keyring manager.")
    }
    guard others.contains(alias) else {
      if call.createsCollection { return true }
      throw hiding(
        "The default collection \(alias.text.excerpt) doesn't exist, although the keyring names it."
      )
    }
    try await refuseHidden([alias])
    return true
  }

  /// Throws an error for a listed collection that has items and is no object.
  ///
  /// Without items, it may be the collection of a new user, which some providers make an object at the next login.
  func refuseHidden(_ collections: [ObjectPath]) async throws(SecureStorageError) {
    let labels = try await call.send(collections.map { .label(ofCollection: $0) })
    let hidden = zip(collections, labels).filter { $1 == nil }.map(\.0)
    if hidden.isEmpty { return }
    let answer = try await call.send(.searchAllItems())
    let found = answer.map { $0.child(0).paths + $0.child(1).paths } ?? []
    if let collection = hidden.first(where: { path in found.contains { $0.isInside(path) } }) {
      throw hiding(
        "The keyring doesn't give access to its collection \(collection.text.excerpt).",
        recoverySuggestion: Self.restarting)
    }
  }

  private static let restarting = "Restart the keyring, for example by logging out and in again."

  /// Returns the error for a missing collection in a keyring that may have the storage's items.
  private func hiding(
    _ message: String, recoverySuggestion: String? = nil
  ) -> SecureStorageError {
    var error = call.failure(
      call.options.collection == .default ? .noDefaultCollection : .collectionNotFound, message,
      recoverySuggestion: recoverySuggestion)
    error.mayHaveItems = true
    return error
  }

  /// Returns the files that have the name and the times of a collection.
  ///
  /// None is returned if the provider doesn't tell them.
  func files(of collection: ObjectPath) async -> [CollectionFile] {
    let alias = collection.isAlias ? [MethodCall.readAlias(String(collection.lastElement))] : []
    // Without an answer, the collection is treated as a text file. The next message reports the failure.
    guard
      let results = try? await call.session.connection.send(
        MethodCall.times(ofCollection: collection) + alias, to: call.provider.uniqueName,
        until: call.deadline),
      let answers = try? results.map({ (result) throws(DBusError) in try result.get() }),
      let created = answers[0].property(ofType: "t"), let changed = answers[1].property(ofType: "t")
    else { return [] }
    let path = alias.isEmpty ? collection : ObjectPath(answers[2].child(0).text)
    let identity = CollectionFile.Identity(
      pathElement: path.lastElement,
      times: CollectionFile.Times(created.unsigned, changed.unsigned))
    return CollectionFile.directories.flatMap { (try? CollectionFile.files(in: $0)) ?? [] }
      .filter { $0.isOf(identity) }
  }
}

// MARK: - Files

extension HiddenCollections {
  /// Throws an error for a file of an unlisted collection that may have the storage's items.
  func refuseUnlistedFile() async throws(SecureStorageError) {
    let files = try await unlistedFiles()
    if let file = try await fileWithItems(among: files) { throw await notListed(file) }
  }

  /// Finds the provider's files of unlisted collections.
  ///
  /// None is found for a provider whose files are out of sight.
  func unlistedFiles() async throws(SecureStorageError) -> [CollectionFile] {
    guard call.provider.keepsCollectionsInFiles else { return [] }
    // A collection that is created now is listed once it has a file.
    let directories = try looking { () throws(FileFailure) in
      try CollectionFile.directories.map(CollectionFile.files)
    }
    if directories.allSatisfy(\.isEmpty) { return [] }
    let paths = try await call.collections()
    let times = try await call.send(paths.flatMap { MethodCall.times(ofCollection: $0) })
      .map { $0?.property(ofType: "t")?.unsigned }
    let listed = paths.enumerated().map { index, path in
      var known: CollectionFile.Times?
      if let created = times[2 * index], let changed = times[2 * index + 1] {
        known = CollectionFile.Times(created, changed)
      }
      return CollectionFile.Identity(pathElement: path.lastElement, times: known)
    }
    let missing = directories.enumerated().flatMap { index, files in
      let missing = CollectionFile.unlisted(files, listing: listed)
      // The provider may use another directory, unless it was started with the user's login.
      let isOfLogin = call.options.busAddress == nil && BusAddress.isOfLogin
      let isInUse = missing.count < files.count || index == 0 && isOfLogin
      return isInUse ? missing : []
    }
    return try looking { () throws(FileFailure) in
      // A collection that was deleted in the meantime has no file any more.
      try missing.map { (file) throws(FileFailure) in try file.refreshed() }.compactMap(\.self)
    }
  }

  /// Looks at the provider's directories, which may be impossible now, for example without a file descriptor.
  private func looking<Result>(
    _ body: () throws(FileFailure) -> Result
  ) throws(SecureStorageError) -> Result {
    do throws(FileFailure) {
      return try body()
    } catch {
      throw call.failure(
        error.code, "A file of the keyring \(error.problem), so it may have the item.",
        underlying: error.underlying)
    }
  }

  /// Returns the first of the unlisted files that may have items of the storage.
  ///
  /// If the storage's collection is there, another file with its name may have them. Otherwise, the file of any
  /// collection may have been the default one.
  func fileWithItems(
    among files: [CollectionFile]
  ) async throws(SecureStorageError) -> CollectionFile? {
    if files.isEmpty || call.options.collection == .session { return nil }
    if let current = try await call.path(of: call.options.collection),
      try await call.collections().contains(current)
    {
      let name = CollectionFile.Identity(pathElement: current.lastElement, times: nil).name
      return files.first { $0.name == name }
    }
    guard case .named(let label) = call.options.collection else { return files[0] }
    return files.first { $0.label.map { $0.hasSameBytes(label) } ?? true }
  }

  /// Returns the error for the file of an unlisted collection.
  func notListed(_ file: CollectionFile) async -> SecureStorageError {
    let message = "The keyring doesn't list the collection in \(file.path)"
    let goingOn = "To go on without its secrets, give it a name that doesn't end with \".keyring\"."
    switch file.content {
    case .unreadable:
      return call.failure(
        .accessDenied, message + ", which can't be read.",
        recoverySuggestion: "Let your user read and write the file, and restart the keyring.")
    case .damaged:
      return call.failure(
        .damaged, message + ", because the file is damaged.",
        recoverySuggestion: """
          Bring the file back from a backup, and restart the keyring. \(goingOn)
          """)
    case .encrypted, .text:
      guard let start = await startOfProvider(), file.changed > start else {
        return call.failure(
          .damaged, message + ", probably because the file is damaged.",
          recoverySuggestion: """
            Restart the keyring. If that doesn't help, bring the file back from a backup. \(goingOn)
            """)
      }
      return hiding(
        message + ", because the file is newer than the keyring's process.",
        recoverySuggestion: Self.restarting)
    }
  }

  /// Returns a time at which the provider's process had started, in seconds since 1970.
  private func startOfProvider() async -> Double? {
    let question = MethodCall.process(of: call.provider.uniqueName)
    let answers = try? await call.session.connection.send([question], to: nil, until: call.deadline)
    guard let process = try? answers?[0].get().child(0).number,
      let ticks = ProcFile.startTicks(of: process)
    else { return nil }
    func now(_ clock: clockid_t) -> Double {
      var time = timespec()
      clock_gettime(clock, &time)
      return time.seconds
    }
    let sinceBoot = Double(ticks + 1) / Double(sysconf(Int32(_SC_CLK_TCK)))
    return now(CLOCK_REALTIME) - now(CLOCK_BOOTTIME) + sinceBoot
  }
}
#endif
