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

  mutating func run(writing: Bool) {
    addSandbox()
    guard let names = addBus() else { return }
    addPortal(names)
    var latest = diagnosis
    var isReady = false
    do throws(SecureStorageError) {
      try silentStorage.perform(.diagnose) { (call) throws(SecureStorageError) in
        // A second try begins anew.
        latest = diagnosis
        try call.addProvider(to: &latest)
        call.addSession(to: &latest)
        isReady = try call.addCollection(
          to: &latest, mayAsk: storage.options.interaction == .allowed)
      }
      diagnosis = latest
    } catch {
      diagnosis = latest
      addFailure(error, names)
    }
    if writing { addWriting(isReady: isReady) }
  }

  private mutating func addWriting(isReady: Bool) {
    if diagnosis.failure != nil { return }
    if isReady {
      diagnosis.probeWriting(in: silentStorage)
    } else {
      diagnosis.add(
        "writing", "was not tried, as the keyring would ask the user.",
        advice: "Unlock the collection, and try again.")
    }
  }

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

  private mutating func addBus() -> BusNames? {
    var address = storage.options.busAddress.map { BusAddress(text: $0) }
    do throws(BusFailure) {
      let found =
        if let address { address } else { BusAddress(text: try BusConnection.sessionBusAddress()) }
      address = found
      let names = try names(at: found)
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
  private func names(at address: BusAddress) throws(BusFailure) -> BusNames {
    let known = [Message.secrets, Self.portal]
    let messages: [Message] = known.map { .owner(of: $0) } + [.activatableNames()]
    let answers = try PrivateMainContext.run { (context) throws(BusFailure) in
      try BusConnection.open(address: address.text, in: context, until: deadline)
        .send(messages, to: nil, in: context, until: deadline)
    }
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

  private mutating func addFailure(_ error: SecureStorageError, _ names: BusNames) {
    switch error.code {
    case .accessDenied where sandbox != .none:
      // What is in the keyring is not this program's: there it was never let in.
      diagnosis.add(
        "provider",
        failure(
          .noStorage, "The sandbox keeps the program from the keyring.", advice: sandbox.advice,
          underlying: error.underlying))
    default: diagnosis.add("provider", error)
    }
  }
}
#endif
