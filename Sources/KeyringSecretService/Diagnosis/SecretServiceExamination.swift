#if SecretService && os(Linux)
internal import KeyringStorage

/// What ``SecretServiceStorage/diagnose(writing:)`` looks at, one thing after the other, as far as it
/// gets.
///
/// The keyring is asked only for what it answers without asking the user.
struct SecretServiceExamination {
  private static let portal = "org.freedesktop.portal.Desktop"

  private let storage: SecretServiceStorage
  private let deadline: Deadline
  private let sandbox = Sandbox.current()
  private(set) var diagnosis: StorageDiagnosis

  init(_ storage: SecretServiceStorage) {
    self.storage = storage
    deadline = Deadline(after: storage.options.serviceTimeout)
    diagnosis = StorageDiagnosis(of: storage.backendName)
  }

  /// Why saving was not to be tried, if it was looked at.
  private var hindrance: String?

  /// Looks at everything, and writes nothing.
  mutating func run() async {
    addSandbox()
    guard let names = await addBus() else { return }
    addPortal(names)
    var latest = diagnosis
    var stage = "provider"
    var hindrance: String?
    do throws(SecureStorageError) {
      try await silentStorage.perform(.diagnose) { (call) async throws(SecureStorageError) in
        // A second try begins again.
        latest = diagnosis
        stage = "session"
        try await call.addProvider(to: &latest)
        call.addSession(to: &latest)
        stage = "collection"
        hindrance = try await call.addCollection(to: &latest, mayAsk: mayAsk)
        if latest.failure != nil { return }
        stage = "search"
        try await call.search()
        if hindrance == nil, call.addQuestion(to: &latest, mayAsk: mayAsk) {
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

  /// Stores an item, reads and removes it again, unless something is wrong already.
  ///
  /// It blocks its thread, so it isn't for the thread of all asynchronous operations.
  mutating func addWriting() {
    if diagnosis.failure != nil { return }
    if let hindrance {
      return diagnosis.add(
        "writing", "was not tried, as the keyring would ask the user.", advice: hindrance)
    }
    var probed = diagnosis
    probed.probeWriting(in: silentStorage)
    if mayAsk, let failure = probed.failure, (failure.code, failure.operation) == (.locked, .save) {
      // Nothing is wrong with a keyring that asks.
      return diagnosis.add(
        "writing", "was given up, as the keyring asks the user before it stores an item.",
        advice: "Answer its question when a secret is stored.")
    }
    diagnosis = probed
  }

  private var mayAsk: Bool { storage.options.interaction == .allowed }

  /// The storage with as much time as is left, and without questions to the user.
  private var silentStorage: SecretServiceStorage {
    var options = storage.options
    options.interaction = .never
    options.serviceTimeout = .milliseconds(Int(deadline.milliseconds))
    return SecretServiceStorage(options: options)
  }

  private func failure(
    _ code: SecureStorageError.Code, _ message: String? = nil, advice: String? = nil,
    underlying: SecureStorageError.Underlying? = nil
  ) -> SecureStorageError {
    SecureStorageError(
      code, operation: .diagnose, backend: storage.backendName, message: message, advice: advice,
      underlying: underlying)
  }

  // MARK: - Outside the keyring

  private mutating func addSandbox() {
    switch sandbox {
    case .none: diagnosis.add("sandbox", "none")
    case .flatpak(let name): diagnosis.add("sandbox", "Flatpak, \(name)")
    case .snap(let name): diagnosis.add("sandbox", "Snap, \(name)")
    }
  }

  /// Who is on the bus, and who could be.
  private struct BusNames {
    let isOwned: Set<String>
    let isActivatable: Set<String>
  }

  private mutating func addBus() async -> BusNames? {
    var address = storage.options.busAddress.map { BusAddress(text: $0) }
    do throws(BusFailure) {
      let found =
        if let address { address } else { BusAddress(text: try BusConnection.sessionBusAddress()) }
      address = found
      let names = try await names(at: found)
      diagnosis.add("session bus", found.text)
      return names
    } catch {
      diagnosis.add("session bus", noBus(error, at: address))
      return nil
    }
  }

  private func noBus(_ cause: BusFailure, at address: BusAddress?) -> SecureStorageError {
    let opening = SecretSession.OpeningFailure(connecting: cause)
    let code = opening.code
    guard code == .noSessionBus, let address else { return opening.error(.diagnose, of: storage) }
    if let owner = address.foreignOwner {
      return failure(
        code, "The session bus at \"\(address.text)\" belongs to user \(owner).",
        advice: "Run the program as that user rather than through sudo, or take another storage.",
        underlying: cause.underlying)
    }
    return failure(
      code, "No D-Bus session bus can be reached at \"\(address.text)\".",
      underlying: cause.underlying)
  }

  /// Asks the bus itself, over a connection without a session.
  private func names(at address: BusAddress) async throws(BusFailure) -> BusNames {
    let known = [Message.secrets, Self.portal]
    let messages: [Message] = known.map { .owner(of: $0) } + [.activatableNames()]
    let answers = try await BusConnection.open(address: address.text, until: deadline)
      .send(messages, to: nil, until: deadline)
    let isOwned = zip(known, answers).filter { (try? $0.1.get()) != nil }.map(\.0)
    let activatable = try? answers[known.count].get().child(0).children.map(\.text)
    return BusNames(isOwned: Set(isOwned), isActivatable: Set(activatable ?? []))
  }

  private mutating func addPortal(_ names: BusNames) {
    if names.isOwned.contains(Self.portal) {
      diagnosis.add("portal", "runs")
    } else if names.isActivatable.contains(Self.portal) {
      diagnosis.add("portal", "is installed, and does not run")
    } else {
      diagnosis.add("portal", "none")
    }
  }

  // MARK: - What fails

  private mutating func addFailure(_ error: SecureStorageError, _ stage: String) async {
    var stage = stage
    if stage == "provider", let provider = await providerByTheBus() {
      diagnosis.add("provider", provider)
      stage = "session"
    }
    switch error.code {
    case .accessDenied where sandbox != .none:
      // What is in the keyring is not this program's: there it was never let in.
      diagnosis.add(
        stage,
        failure(
          .noStorage, "The sandbox keeps the program from the keyring.", advice: sandbox.advice,
          underlying: error.underlying))
    default: diagnosis.add(stage, error)
    }
  }

  /// Who owns the name of the service, as the bus has it: a keyring that hangs says nothing itself.
  private func providerByTheBus() async -> String? {
    // The time for the keyring may be up; the bus answers at once.
    let deadline = Deadline(after: .seconds(1))
    let messages: [Message] = [.owner(of: Message.secrets), .process(of: Message.secrets)]
    let answers = try? await BusConnection.open(
      address: storage.options.busAddress, until: deadline
    ).send(messages, to: nil, until: deadline)
    guard let answers, let owner = try? answers[0].get().child(0).text else { return nil }
    return Call.description(of: owner, process: try? answers[1].get())
  }
}
#endif
