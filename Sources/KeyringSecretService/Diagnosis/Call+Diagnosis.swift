#if SecretService && os(Linux)
internal import KeyringStorage

/// What a keyring tells of itself.
extension Call {
  /// Adds who provides the service.
  func addProvider(to diagnosis: inout StorageDiagnosis) throws(SecureStorageError) {
    let answers = try facts([
      .process(of: session.provider.uniqueName),
      .version(ofQtProgram: session.provider.uniqueName),
    ])
    let version = answers[1]?.child(0).child(0)
    let words: [String?] = [
      answers[0].map { "\(Self.programName($0.child(0).number)), process \($0.child(0).number)" },
      version.flatMap { $0.isOfType("s") ? "version \($0.text)" : nil },
      "on the bus as \(session.provider.uniqueName)",
    ]
    diagnosis.add("provider", words.compactMap(\.self).joined(separator: ", "))
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
  /// - Returns: Whether it can be written without asking the user.
  func addCollection(
    to diagnosis: inout StorageDiagnosis, mayAsk: Bool
  ) throws(SecureStorageError) -> Bool {
    let path = try namedCollection()
    guard let path, let isLocked = try lockState(of: path) else {
      try addMissingCollection(path, to: &diagnosis, mayAsk: mayAsk)
      return false
    }
    let label = try send(.label(ofCollection: path))?.child(0).child(0)
    let name = (label.map { $0.isOfType("s") ? "\"\($0.text)\", " : "" } ?? "") + path.text
    if !isLocked {
      diagnosis.add("collection", "\(name), unlocked")
    } else if !mayAsk {
      diagnosis.add("collection", failure(.locked, "The collection \(name), is locked."))
    } else if try isAnybodyAsked() {
      diagnosis.add(
        "collection", "\(name), is locked.",
        advice: "The keyring asks for its password when it is used.")
    } else {
      diagnosis.add(
        "collection",
        failure(
          .locked,
          "The collection \(name), is locked, and no program shows the keyring's question."))
    }
    return !isLocked
  }

  private func addMissingCollection(
    _ stale: ObjectPath?, to diagnosis: inout StorageDiagnosis, mayAsk: Bool
  ) throws(SecureStorageError) {
    var error = noCollection()
    if let stale, options.collection == .default {
      // gnome-keyring's does, where the collection was deleted.
      error.message = "The default collection \(stale.text) does not exist, although it is named."
    }
    guard options.collection == .default, mayAsk else {
      return diagnosis.add("collection", error)
    }
    if try isAnybodyAsked() {
      diagnosis.add(
        "collection", error.message, advice: "The keyring asks to make one when a secret is stored."
      )
    } else {
      diagnosis.add("collection", error)
    }
  }

  /// Whether there is a program that shows the keyring's questions; it is started for that, and shows
  /// nothing.
  private func isAnybodyAsked() throws(SecureStorageError) -> Bool {
    if let prompter = session.provider.prompter { _ = try facts([.start(prompter)]) }
    do throws(BusFailure) {
      return try !session.lacksPrompter(until: deadline)
    } catch {
      throw failure(error.codeWhileCalling)
    }
  }

  /// Asks the bus and other programs on it; who has no answer is not at fault.
  private func facts(_ messages: [Message]) throws(SecureStorageError) -> [Variant?] {
    do throws(BusFailure) {
      return try session.send(messages, until: deadline).map { try? $0.get() }
    } catch {
      throw failure(error.codeWhileCalling)
    }
  }
}
#endif
