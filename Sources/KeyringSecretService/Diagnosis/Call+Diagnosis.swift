#if SecretService && os(Linux)
internal import KeyringStorage

/// What a keyring tells of itself.
extension Call {
  /// Adds who provides the service, also when it does not answer.
  func addProvider(to diagnosis: inout StorageDiagnosis) async throws(SecureStorageError) {
    // The bus knows that.
    let name = provider.uniqueName
    let process = try await facts([.process(of: name)])[0]
    func add(version: String?) {
      diagnosis.add(
        "provider", Self.description(of: name, process: process, version: version))
    }
    do throws(SecureStorageError) {
      let version = try await facts([.version(ofQtProgram: name)])[0]?.child(0).child(0)
      add(version: version.flatMap { $0.isOfType("s") ? $0.text : nil })
    } catch {
      add(version: nil)
      throw error
    }
  }

  /// Who is on the bus under a name, in words.
  static func description(of owner: String, process: Variant?, version: String? = nil) -> String {
    let words: [String?] = [
      process.map { "\(programName($0.child(0).number)), process \($0.child(0).number)" },
      version.map { "version \($0)" },
      "on the bus as \(owner)",
    ]
    return words.compactMap(\.self).joined(separator: ", ")
  }

  /// The name of the program that a process runs; in a sandbox the number may be another's.
  private static func programName(_ process: UInt32) -> String {
    if let path = SmallFile.link("/proc/\(process)/exe"), let name = path.split(separator: "/").last
    {
      return String(name)
    }
    let name = SmallFile.text("/proc/\(process)/comm")?.split(separator: "\n").first
    return name.map(String.init) ?? "a program that cannot be seen"
  }

  /// Adds how secrets travel.
  func addSession(to diagnosis: inout StorageDiagnosis) {
    if session.algorithm == "plain" {
      diagnosis.add(
        "encryption", "Secrets travel over the bus as they are.",
        advice: "Nothing is wrong on a bus of the user's own; another keyring would encrypt them.")
    } else {
      diagnosis.add("encryption", session.algorithm ?? "unknown")
    }
  }

  /// Adds whether the collection of the storage is there and unlocked, or could be made so.
  ///
  /// - Returns: What to do before an item can be stored without asking the user; `nil` for nothing.
  func addCollection(
    to diagnosis: inout StorageDiagnosis, mayAsk: Bool
  ) async throws(SecureStorageError) -> String? {
    let path = try await namedCollection()
    guard let path, let isLocked = try await lockState(of: path) else {
      try await addMissingCollection(path, to: &diagnosis, mayAsk: mayAsk)
      return "Store a secret, answer the keyring's question, and try again."
    }
    let label = try await send(.label(ofCollection: path))?.child(0).child(0)
    let name = (label.map { $0.isOfType("s") ? "\"\($0.text)\", " : "" } ?? "") + path.text
    if !isLocked {
      diagnosis.add("collection", "\(name), unlocked")
    } else if !mayAsk {
      diagnosis.add("collection", failure(.locked, "The collection \(name), is locked."))
    } else if try await isAnybodyAsked() {
      diagnosis.add(
        "collection", "\(name), is locked.",
        advice: "The keyring asks for its password when it is used.")
    } else {
      diagnosis.add(
        "collection",
        failure(
          .locked,
          "The collection \(name), is locked, and no program shows the keyring's question.",
          advice: Self.withoutPrompter))
    }
    return isLocked ? "Unlock the collection, and try again." : nil
  }

  /// Searches for what nobody has stored: a keyring may do all the rest, and hang then.
  func search() async throws(SecureStorageError) {
    _ = try await search([ItemKey.diagnosisProbe().ownAttributes], with: [])
  }

  /// Adds whether the keyring asks the user about each new item.
  ///
  /// - Returns: Whether it does.
  func addQuestion(to diagnosis: inout StorageDiagnosis, mayAsk: Bool) -> Bool {
    guard provider.createsItemsByPrompt else { return false }
    let text = "The keyring may ask the user before it stores a new item"
    if mayAsk {
      diagnosis.add("new items", text + ".", advice: "Answer its question when a secret is stored.")
    } else {
      diagnosis.add(
        "new items",
        failure(
          .locked, text + ", and this storage must not let it.",
          advice: "Allow this program to ask."))
    }
    return true
  }

  private func addMissingCollection(
    _ stale: ObjectPath?, to diagnosis: inout StorageDiagnosis, mayAsk: Bool
  ) async throws(SecureStorageError) {
    if !provider.listsAllCollections, options.collection != .session {
      return diagnosis.add("collection", closed())
    }
    var error = noCollection()
    if let stale, options.collection == .default {
      // gnome-keyring's does, where the collection was deleted.
      error.message = "The default collection \(stale.text) does not exist, although it is named."
    }
    guard options.collection == .default, mayAsk else {
      return diagnosis.add("collection", error)
    }
    error.advice = Self.withoutPrompterOrDefault
    if try await isAnybodyAsked() {
      diagnosis.add(
        "collection", error.message, advice: "The keyring asks to make one when a secret is stored."
      )
    } else {
      diagnosis.add("collection", error)
    }
  }

  /// Whether there is a program that shows the keyring's questions; it is started for that, and shows
  /// nothing.
  private func isAnybodyAsked() async throws(SecureStorageError) -> Bool {
    if let prompter = provider.prompter { _ = try await facts([.start(prompter)]) }
    do throws(BusFailure) {
      return try await !session.lacksPrompter(until: deadline)
    } catch {
      throw failure(error.codeWhileCalling)
    }
  }

  /// Asks the bus and other programs on it; who has no answer is not at fault.
  private func facts(_ messages: [Message]) async throws(SecureStorageError) -> [Variant?] {
    do throws(BusFailure) {
      return try await session.send(messages, until: deadline).map { try? $0.get() }
    } catch {
      throw failure(error.codeWhileCalling)
    }
  }
}
#endif
