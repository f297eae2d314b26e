// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
internal import KeyringRuntime
public import KeyringStorage

extension SecretServiceStorage {
  /// Finds out whether the keyring works in this environment, without asking the user.
  ///
  /// It checks the sandbox, the bus, the provider, the encryption and the collection, in about the
  /// ``Options/serviceTimeout``. Only `writing` shows whether an item can be created.
  ///
  /// - Parameter writing: Whether to store, read and remove an item in the collection, if that doesn't require a
  ///   question to the user.
  /// - Returns: The findings.
  /// - Throws: Only `.canceled`, for a cancelled task.
  public func diagnoseWithoutBlocking(
    writing: Bool
  ) async throws(SecureStorageError) -> StorageDiagnosis {
    let checks = await SecretServiceDiagnosis.made(of: self)
    // A cancelled call says nothing about the storage.
    try checkCancellation(.diagnose)
    guard writing else { return checks.diagnosis }
    return try await diagnosing(writing: true) {
      var checks = checks
      checks.addWriting()
      return checks.diagnosis
    }
  }
}

/// The steps of ``SecretServiceStorage/diagnoseWithoutBlocking(writing:)``.
///
/// A failure ends the diagnosis, and later steps don't run. The keyring gets only requests that it answers
/// without asking the user.
struct SecretServiceDiagnosis {
  private let storage: SecretServiceStorage
  private let deadline: Deadline
  private let sandbox = Sandbox.current()
  private(set) var diagnosis: StorageDiagnosis

  init(_ storage: SecretServiceStorage) {
    self.storage = storage
    deadline = Deadline(after: storage.options.serviceTimeout)
    diagnosis = StorageDiagnosis(of: storage.backendName)
  }

  /// A step that's necessary before saving can be tested, if the diagnosis has found one.
  private var hindrance: String?

  /// Runs all steps except the one that writes.
  static func made(of storage: SecretServiceStorage) async -> SecretServiceDiagnosis {
    var checks = SecretServiceDiagnosis(storage)
    // Without the libraries, no call can be made.
    guard checks.addLibraries() else { return checks }
    do throws(DBusError) {
      return try await CallLoop.run(orThrow: \.self) { [checks] () async throws(DBusError) in
        var checks = checks
        await checks.run()
        return checks
      }
    } catch {
      checks.diagnosis.add("session bus", storage.error(error, during: .diagnose))
      return checks
    }
  }

  /// Runs the first steps, and returns `true` if the libraries are loaded.
  private mutating func addLibraries() -> Bool {
    addSandbox()
    do throws(SecureStorageError) {
      try storage.requireLibraries(for: .diagnose)
      return true
    } catch {
      diagnosis.add("libsecret", error)
      return false
    }
  }

  /// Runs all other steps except the one that writes.
  private mutating func run() async {
    guard await addBus() else { return }
    var latest = diagnosis
    var stage = "provider"
    var hindrance: String?
    do throws(SecureStorageError) {
      try await silentStorage.perform(.diagnose) { (call) async throws(SecureStorageError) in
        // A second attempt starts over.
        latest = diagnosis
        stage = "session"
        let keyring = KeyringExamination(call)
        try await keyring.addProvider(to: &latest)
        keyring.addSession(to: &latest)
        if latest.failure != nil { return }
        stage = "collection"
        try await keyring.addCollectionFiles(to: &latest)
        hindrance = try await keyring.addCollection(to: &latest, mayAsk: mayAsk)
        if latest.failure != nil { return }
        stage = "search"
        // A keyring may answer everything else and hang in a search.
        _ = try await ItemFinder(call).search([ItemKey.probe().ownAttributes], with: [])
        if hindrance == nil, keyring.addQuestion(to: &latest, mayAsk: mayAsk) {
          hindrance = "Store a secret to see whether it works."
        }
      }
      diagnosis = latest
    } catch {
      diagnosis = latest
      await addFailure(error, stage)
    }
    self.hindrance = hindrance
  }

  /// Stores, reads and removes an item, unless the diagnosis has already found a failure.
  ///
  /// The method blocks its thread, so don't call it on the thread of all asynchronous operations.
  mutating func addWriting() {
    if diagnosis.failure != nil { return }
    if let hindrance {
      return diagnosis.add(
        "writing", "wasn't tried, because the keyring would ask the user.",
        recoverySuggestion: hindrance)
    }
    var probed = diagnosis
    probed.probeWriting(in: silentStorage)
    if mayAsk, let failure = probed.failure, (failure.code, failure.operation) == (.locked, .save) {
      // A keyring that asks the user works correctly.
      return diagnosis.add(
        "writing", "wasn't finished, because the keyring asks the user before it stores an item.",
        recoverySuggestion: "Answer its prompt when you store a secret.")
    }
    diagnosis = probed
  }

  private var mayAsk: Bool { storage.options.interaction != .never }

  /// The storage with the remaining time, and without prompts.
  private var silentStorage: SecretServiceStorage {
    var options = storage.options
    options.interaction = .never
    options.serviceTimeout = deadline.remaining
    return SecretServiceStorage(options: options)
  }

  // MARK: - Outside the keyring

  private mutating func addSandbox() {
    switch sandbox {
    case .none: diagnosis.add("sandbox", "none")
    case .flatpak(let name): diagnosis.add("sandbox", "Flatpak, \(name)")
    case .snap(let name): diagnosis.add("sandbox", "Snap, \(name)")
    }
  }

  /// Adds the bus and what it says of other programs, or returns `false` if it can't be asked.
  private mutating func addBus() async -> Bool {
    let address = storage.options.busAddress
    do throws(DBusError) {
      let found = if let address { BusAddress(text: address) } else { try BusAddress.ofSession() }
      let answers = try await BusConnection.open(address: found.text, until: deadline)
        .send([.owner(of: MethodCall.portal), .activatableNames()], to: nil, until: deadline)
      diagnosis.add("session bus", found.text)
      let startable = Set((try? answers[1].get().child(0).children.map(\.text)) ?? [])
      let isInstalled = startable.contains(MethodCall.portal)
      let runs = (try? answers[0].get()) != nil
      diagnosis.add(
        "portal", runs ? "runs" : isInstalled ? "is installed, but doesn't run" : "none")
      addInstalledKeyrings(startable)
      return true
    } catch {
      let opening = SecretSession.OpeningFailure(connecting: error, to: address)
      diagnosis.add("session bus", opening.error(.diagnose, of: storage))
      return false
    }
  }

  private mutating func addInstalledKeyrings(_ startable: Set<String>) {
    let keyrings = Provider.installed(startable)
    if keyrings.count < 2 { return }
    diagnosis.add(
      "installed",
      keyrings.joined(separator: " and ")
        + " are both installed. The one that starts first is the keyring of all programs.",
      recoverySuggestion: "Remove one of them, or turn off its Secret Service.")
  }

  // MARK: - Failures

  private mutating func addFailure(_ error: SecureStorageError, _ stage: String) async {
    var stage = stage
    if stage == "provider", let provider = await providerByTheBus() {
      diagnosis.add("provider", provider)
      stage = "session"
    }
    switch error.code {
    case .accessDenied where sandbox != .none, .noProvider where sandbox != .none:
      // The keyring never let this program in, so nothing in it belongs to this program. Most sandboxes hide
      // its name.
      diagnosis.add(
        stage,
        storage.error(
          .noStorage, during: .diagnose,
          message: "The sandbox doesn't let the program access a keyring.",
          recoverySuggestion: sandbox.recoverySuggestion, underlying: error.underlying))
    default: diagnosis.add(stage, error)
    }
  }

  /// Returns a description of the provider from the bus.
  ///
  /// A keyring that hangs says nothing about itself.
  private func providerByTheBus() async -> String? {
    // The keyring's deadline may have passed. The bus answers at once.
    let deadline = Deadline(after: .seconds(1))
    let messages: [MethodCall] = [.owner(of: MethodCall.secrets), .process(of: MethodCall.secrets)]
    let answers = try? await BusConnection.open(
      address: storage.options.busAddress, until: deadline
    ).send(messages, to: nil, until: deadline)
    guard let answers, let owner = try? answers[0].get().child(0).text else { return nil }
    return BusConnection.description(of: owner, process: try? answers[1].get())
  }
}
#endif
