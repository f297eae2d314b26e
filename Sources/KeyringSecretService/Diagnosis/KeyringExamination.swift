// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
internal import KeyringRuntime
internal import KeyringStorage

/// The part of a diagnosis that asks the keyring about itself.
struct KeyringExamination {
  let call: Operation

  init(_ call: Operation) { self.call = call }

  /// Adds the provider of the service, even if it doesn't answer.
  func addProvider(to diagnosis: inout StorageDiagnosis) async throws(SecureStorageError) {
    // The bus answers this, not the provider.
    let name = call.provider.uniqueName
    let process = try await facts([.process(of: name)])[0]
    var version: String?
    defer {
      diagnosis.add(
        "provider", BusConnection.description(of: name, process: process, version: version))
    }
    let (property, object, interface) = Provider.version
    let question = MethodCall.property(
      DBusName(property), of: ObjectPath(object), DBusName(interface), to: name)
    // Not every provider answers this.
    version = try await facts([question])[0]?.property(ofType: "s")?.text
    version = version ?? process.flatMap { installedVersion(of: $0.child(0).number) }
  }

  /// Returns the version that an installed package names for the provider's program, or `nil`.
  private func installedVersion(of process: UInt32) -> String? {
    guard let (path, mark) = call.provider.versionFile,
      ProcFile.link("/proc/\(process)/exe")?.hasPrefix("/usr/bin/") == true,
      let text = ProcFile.text(path), let version = text.firstRange(of: mark)?.upperBound
    else { return nil }
    return String(text[version...].prefix { $0 != "\"" && !$0.isNewline })
  }

  /// Adds the encryption of secrets on the bus.
  func addSession(to diagnosis: inout StorageDiagnosis) {
    if !call.allowsSession {
      diagnosis.add("encryption", call.failure(.notEncrypted))
    } else if !call.session.isEncrypted {
      diagnosis.add(
        "encryption", "Secrets are sent over the bus without encryption.",
        recoverySuggestion:
          "This is safe if only the user can access the bus. Another keyring may encrypt them.")
    } else {
      diagnosis.add("encryption", call.session.algorithm ?? "unknown")
    }
  }

  /// Adds the state of the storage's collection, and whether it can be created or unlocked if necessary.
  ///
  /// - Returns: The step that's necessary before an item can be stored without a prompt, or `nil` if there
  ///   is none.
  func addCollection(
    to diagnosis: inout StorageDiagnosis, mayAsk: Bool
  ) async throws(SecureStorageError) -> String? {
    let path = try await call.namedCollection()
    guard let path, var isLocked = try await call.lockState(of: path) else {
      try await addMissingCollection(path, to: &diagnosis, mayAsk: mayAsk)
      return "Store a secret, answer the keyring's prompt, and try again."
    }
    let label = try await call.send(.label(ofCollection: path))?.property(ofType: "s")?.text
    let name = ((label.map { "\"\($0)\" at " } ?? "") + path.text).excerpt
    let wasLocked = isLocked
    if wasLocked { isLocked = try await !opensWithoutPrompt(path) }
    if diagnosis.protection == .unknown {
      diagnosis.protection = protection(of: path, needsPrompt: isLocked)
    }
    if !isLocked {
      diagnosis.add("collection", "\(name), unlocked" + (wasLocked ? " without a question" : ""))
    } else if !mayAsk {
      diagnosis.add("collection", call.failure(.locked, "The collection \(name) is locked."))
    } else if try await isUserAsked() {
      diagnosis.add(
        "collection", "\(name) is locked.",
        recoverySuggestion: "The keyring asks for its password when you use it.")
    } else {
      diagnosis.add(
        "collection",
        call.failure(
          .locked,
          "The collection \(name) is locked, and no program shows the keyring's prompt.",
          recoverySuggestion: Provider.withoutPrompter))
    }
    return isLocked ? "Unlock the collection, and try again." : nil
  }

  /// Returns what protects a collection whose file says nothing.
  private func protection(of path: ObjectPath, needsPrompt: Bool) -> StorageProtection {
    if call.options.collection == .session || path.lastElement == "session" { return .memory }
    // The password of any other collection can be in this one, which may have none.
    let isLogin = call.provider.keepsCollectionsInFiles && path.lastElement == "login"
    return isLogin && needsPrompt ? .password : .keyring
  }

  /// Unlocks a collection that needs no prompt, and returns `false` for another one.
  private func opensWithoutPrompt(_ path: ObjectPath) async throws(SecureStorageError) -> Bool {
    do throws(SecureStorageError) {
      // This storage allows no prompt.
      try await call.unlock([path])
      return true
    } catch {
      if error.code == .locked { return false }
      throw error
    }
  }

  /// Adds the storage's collection with an unencrypted file, and each file of an unlisted collection.
  ///
  /// Nothing is added for a provider whose files are out of sight.
  func addCollectionFiles(to diagnosis: inout StorageDiagnosis) async throws(SecureStorageError) {
    guard call.provider.keepsCollectionsInFiles else { return }
    let hidden = HiddenCollections(call: call)
    let path = try await call.namedCollection()
    let own = if let path { await hidden.files(of: path) } else { [CollectionFile]() }
    if let text = own.first(where: { $0.content == .text }) {
      diagnosis.protection = .keyFile
      diagnosis.add(
        "collection's file",
        """
        \(text.path) isn't encrypted, because the collection has no password. The file changes some text of \
        other programs, and a line break in a secret of theirs can destroy it.
        """,
        recoverySuggestion: "Give the collection a password in your keyring manager.")
    } else if own.contains(where: { $0.content == .encrypted }) {
      // The password of a collection can be in the login's.
      let login = ObjectPath("/org/freedesktop/secrets/collection/login")
      let files = path == login ? own : await hidden.files(of: login)
      if files.contains(where: { $0.content == .encrypted }) { diagnosis.protection = .password }
    }
    let files = try await hidden.unlistedFiles()
    let needed = try await hidden.fileWithItems(among: files)
    for file in files {
      let error = await hidden.notListed(file)
      if file == needed {
        diagnosis.add("collection's file", error)
      } else {
        diagnosis.add(
          "collection's file", error.message, recoverySuggestion: error.recoverySuggestion)
      }
    }
  }

  /// Adds an entry if the keyring may ask the user about each new item.
  ///
  /// - Returns: `true` for a keyring that may ask.
  func addQuestion(to diagnosis: inout StorageDiagnosis, mayAsk: Bool) -> Bool {
    guard call.provider.createsItemsByPrompt else { return false }
    let text = "The keyring may ask the user before it stores a new item"
    if mayAsk {
      diagnosis.add(
        "new items", text + ".", recoverySuggestion: "Answer its prompt when you store a secret.")
    } else {
      diagnosis.add(
        "new items",
        call.failure(
          .locked, text + ", but this storage doesn't allow prompts.",
          recoverySuggestion: "Allow this program to show prompts."))
    }
    return true
  }

  private func addMissingCollection(
    _ stale: ObjectPath?, to diagnosis: inout StorageDiagnosis, mayAsk: Bool
  ) async throws(SecureStorageError) {
    if !call.provider.listsAllCollections, call.options.collection != .session {
      return diagnosis.add("collection", call.closed())
    }
    var error = call.noCollection()
    do throws(SecureStorageError) {
      switch call.options.collection {
      // If there is one by now, the next diagnosis finds it, and so does the next selection.
      case .default:
        error.mayHaveItems = try await !HiddenCollections(call: call).confirmThatThereIsNoDefault()
      case .named: try await HiddenCollections(call: call).refuseHidden(call.collections())
      case .session: break
      }
    } catch let hidden {
      guard hidden.mayHaveItems else { throw hidden }
      return diagnosis.add("collection", hidden)
    }
    guard call.options.collection == .default else { return diagnosis.add("collection", error) }
    if let stale {
      error.message =
        "The keyring doesn't give access to its new default collection \(stale.text.excerpt)."
      error.recoverySuggestion = "Log out and in again."
    }
    guard mayAsk else { return diagnosis.add("collection", error) }
    if stale == nil { error.recoverySuggestion = Provider.withoutPrompterOrDefault }
    if try await isUserAsked() {
      diagnosis.add(
        "collection", error.message,
        recoverySuggestion: "The keyring offers to create one when you store a secret."
      )
    } else {
      diagnosis.add("collection", error)
    }
  }

  /// Returns `true` if there is a program that shows the keyring's prompts.
  ///
  /// The method starts that program, which stays in the background.
  private func isUserAsked() async throws(SecureStorageError) -> Bool {
    if let prompter = call.provider.prompter { _ = try await facts([.start(prompter)]) }
    do throws(DBusError) {
      return try await !call.session.isPrompterMissing(until: call.deadline)
    } catch {
      throw call.failure(error.codeWhileCalling)
    }
  }

  /// Asks the bus and other programs on it.
  ///
  /// A missing answer is a fact, too: its element is `nil`.
  private func facts(_ messages: [MethodCall]) async throws(SecureStorageError) -> [Variant?] {
    do throws(DBusError) {
      return try await call.session.connection.send(messages, to: nil, until: call.deadline)
        .map { try? $0.get() }
    } catch {
      throw call.failure(error.codeWhileCalling)
    }
  }
}
#endif
