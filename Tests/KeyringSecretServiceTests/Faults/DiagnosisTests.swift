// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Foundation
import Keyring
import KeyringRuntime
import KeyringStorage
import Testing

@testable import KeyringSecretService

/// The findings of a diagnosis in every state of a machine.
///
/// A diagnosis always ends, and it never asks the user.
@Suite struct DiagnosisTests {
  @Test(
    arguments: ["unix:path=/nonexistent/bus", "garbage", ""])
  func `a diagnosis names an address that has no bus`(address: String) {
    let diagnosis = SecretServiceStorage(options: .init(busAddress: address)).diagnose()
    diagnosis.expect(["sandbox: ok", "session bus: failure"], .noSessionBus)
    #expect(diagnosis.description.contains("at \"\(address)\"."))
    #expect(diagnosis.description.contains("dbus-run-session"))
  }

  @Test func `a diagnosis without an address finds no session bus`() async {
    await #expect(processExitsWith: .success) {
      for name in ["DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "XDG_RUNTIME_DIR"] { unsetenv(name) }
      SecretServiceStorage().diagnose()
        .expect(["sandbox: ok", "session bus: failure"], .noSessionBus)
    }
  }

  @Test func `a diagnosis of a silent bus times out`() throws {
    let listener = try Listener()
    listener.storage(serviceTimeout: .milliseconds(300)).diagnose().expect(
      ["sandbox: ok", "session bus: failure"], .timedOut)
  }

  @Test func `a Flatpak sandbox is named after its app or its runtime`() throws {
    let directory = TemporaryDirectory()
    let path = directory.path("info")
    #expect(Sandbox.current(flatpakInfo: path) == .none)
    try directory.write("[Application]\nname=org.example.App\nruntime=x\n", "info")
    #expect(Sandbox.current(flatpakInfo: path) == .flatpak("org.example.App"))
    try directory.write("[Runtime]\nruntime=runtime/org.example.App\n", "info")
    #expect(Sandbox.current(flatpakInfo: path) == .flatpak("runtime/org.example.App"))
    #expect(
      Sandbox.flatpak("x").recoverySuggestion?.contains("--talk-name=org.freedesktop.secrets")
        == true)
  }

  @Test func `a Snap sandbox is named after its snap`() async {
    await #expect(processExitsWith: .success) {
      // A program that isn't in the snap only inherits its variables.
      setenv("SNAP", "/snap/example/1", 1)
      setenv("SNAP_NAME", "example", 1)
      #expect(Sandbox.current() == .none)
      setenv("SNAP", "", 1)
      #expect(Sandbox.current() == .none, "an empty variable isn't set")
      let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
      setenv("SNAP", URL(fileURLWithPath: program).deletingLastPathComponent().path, 1)
      setenv("SNAP_USER_COMMON", "/home/ada/snap/example/common", 1)
      #expect(Sandbox.current().dataDirectory == "/home/ada/snap/example/common")
      let diagnosis = SecretServiceStorage(options: .init(busAddress: "garbage")).diagnose()
      #expect("\(diagnosis.findings[0])" == "ok: SecretServiceStorage, sandbox: Snap, example")
      #expect(Sandbox.current().recoverySuggestion?.contains("snap connect example:") == true)
    }
  }

  @Test(.inPrivateSession) func `the keyring of the private session passes its diagnosis`() throws {
    // KWallet may have closed its wallet, which opens without a question.
    try SecretServiceStorage().unlock()
    let diagnosis = SecretServiceStorage().diagnose(writing: true)
    // KeePassXC has a prompt for every new item, and a probe never answers a prompt.
    let writing =
      Provider.current == .keepassxc ? ["new items: notice", "writing: notice"] : ["writing: ok"]
    diagnosis.expect(
      DiagnosisOnABusTests.outside + ["provider: ok", "encryption: ok", "collection: ok"] + writing,
      nil)
    // Only gnome-keyring's files tell whether there is a password.
    #expect(
      diagnosis.protection == (Provider.current == .gnomeKeyring ? .password : .keyring))
    let text = diagnosis.description
    #expect(text.contains(Provider.current.program))
    // gnome-keyring tells its version only to who runs its program.
    #expect(text.contains(", version ") == (Provider.current != .gnomeKeyring))
    #expect(text.contains("dh-ietf1024-sha256-aes128-cbc-pkcs7"))
    #expect(text.contains(Provider.current.defaultCollection))
    #expect(try SecretServiceStorage().items(matching: .service("swift-keyring probe")).isEmpty)
  }
}

/// The findings of a diagnosis on buses that belong to the tests.
@Suite(.withOwnKeyring) struct DiagnosisOnABusTests {
  fileprivate static let outside = ["sandbox: ok", "session bus: ok", "portal: ok"]

  @Test func `a diagnosis of a bus without a keyring advises to install one`() throws {
    let bus = try PrivateBus()
    let diagnosis = bus.storage().diagnose(writing: true)
    diagnosis.expect(Self.outside + ["provider: failure"], .noProvider)
    #expect("\(diagnosis)".contains("Install gnome-keyring"))
  }

  @Test func `a diagnosis names two keyrings that are installed`() throws {
    let names = ["org.gnome.keyring", "org.kde.kwalletd6", "org.kde.secretservicecompat"]
    for count in 1...3 {
      let bus = try PrivateBus(activation: "/bin/false", of: Array(names.prefix(count)))
      let service = try FakeService(on: bus)
      defer { _ = service }
      let diagnosis = bus.storage().diagnose()
      diagnosis.expect(
        Self.outside + (count > 1 ? ["installed: notice"] : [])
          + ["provider: ok", "encryption: notice", "collection: ok"], nil)
      let names = "gnome-keyring and KWallet are both installed"
      #expect("\(diagnosis)".contains(names) == (count > 1))
    }
  }

  @Test(arguments: ["/nonexistent/keyring", "/bin/false"])
  func `a keyring that fails to start is not reported as missing`(command: String) throws {
    let bus = try PrivateBus(activation: command)
    let diagnosis = bus.storage().diagnose()
    diagnosis.expect(Self.outside + ["provider: failure"], .providerFailed)
    #expect("\(diagnosis)".contains("couldn't start it"))
    #expect(!"\(diagnosis)".contains("Install"))
  }

  @Test func `a diagnosis times out if the keyring never finishes its start`() throws {
    let bus = try PrivateBus(activation: "/usr/bin/env gdbus wait --session org.example.Never")
    // The bus itself answers in this time.
    bus.storage(serviceTimeout: .seconds(1)).diagnose()
      .expect(Self.outside + ["provider: failure"], .timedOut)
  }

  @Test func `a password of gnome-keyring is known by its file, or by its question`() async {
    await #expect(processExitsWith: .success) {
      let (bus, keyring) = try PrivateBus.with { try GnomeKeyring(on: $0) }
      let storage = bus.storage(.never)
      let other = try PasswordCollection(label: "Other", on: bus)
      defer { _ = other }
      func protection(
        in collection: SecretServiceStorage.Collection = .default
      ) -> StorageProtection { bus.storage(.never, in: collection).diagnose().protection }
      #expect(protection() == .keyring, "its file is out of sight, and it asks nothing")
      #expect(protection(in: .session) == .memory)
      #expect(protection(in: .named("missing")) == .unknown)
      for collection in [storage, bus.storage(.never, in: .named("Other"))] {
        try collection.lock()
      }
      #expect(protection() == .password)
      // Its password may be in a collection that has none.
      #expect(protection(in: .named("Other")) == .keyring)
      setenv("XDG_DATA_HOME", keyring.home, 1)
      #expect(protection() == .password)
      #expect(protection(in: .named("Other")) == .password)
      #expect(protection(in: .session) == .memory)
    }
  }

  @Test func `nothing is known of the passwords of another provider`() throws {
    let (bus, service) = try PrivateBus.with { try FakeService(on: $0) }
    #expect(bus.storage().diagnose().protection == .keyring)
    try service.lock()
    #expect(bus.storage(.never).diagnose().protection == .keyring)
  }

  @Test func `a diagnosis shows no prompt but knows if a program could show one`() throws {
    for hasCollection in [true, false] {
      let bus = try PrivateBus()
      let keyring = try GnomeKeyring(on: bus, hasCollection: hasCollection)
      defer { _ = keyring }
      if hasCollection { try bus.storage().lock() }
      let code: SecureStorageError.Code = hasCollection ? .locked : .noDefaultCollection
      let promptless = bus.storage().diagnose()
      for step in ["keyring-tool unlock at", "unlock --password-stdin", "install gcr"] {
        #expect("\(promptless)".contains(step), "\(promptless)")
      }
      #expect(!"\(promptless)".contains("allow this program"), "\(promptless)")
      #expect(bus.storage(.never).diagnose().failure?.code == code)
      #expect(bus.storage().diagnose(writing: true).failure?.code == code)
      let prompter = try Prompter(.dismiss, on: bus)
      let diagnosis = bus.storage().diagnose(writing: false)
      diagnosis.expect(
        Self.outside + ["provider: ok", "encryption: ok", "collection: notice"], nil)
      _ = bus.storage().diagnose(writing: true)
      #expect(try prompter.finish() == 0)
    }
  }
}

/// The findings of a diagnosis of a provider that misbehaves.
@Suite(.withOwnKeyring) struct DiagnosisOfAProviderTests {
  private static let unencrypted =
    DiagnosisOnABusTests.outside + ["provider: ok", "encryption: notice"]
  private let bus: PrivateBus
  private let service: FakeService

  init() throws { (bus, service) = try PrivateBus.with { try FakeService(on: $0) } }

  @Test(.tags(.slow), arguments: ["OpenSession", "ReadAlias", "Get", "SearchItems"])
  func `a diagnosis finds the fault of a method and names the provider`(method: String) throws {
    let faults: KeyValuePairs<FakeService.Fault, SecureStorageError.Code> = [
      .mute: .timedOut, .type: .other,
      .error("org.freedesktop.DBus.Error.AccessDenied"): .accessDenied,
      .error("org.freedesktop.DBus.Error.NoReply"): .connectionLost,
      .error("org.example.Error.Odd"): .other,
      .leave: .connectionLost,
    ]
    if method == "ReadAlias" { try service.takeName("org.gnome.keyring") }
    for (fault, code) in faults {
      try service.reset()
      try service.restart()
      try service.fault(method, fault)
      // Only the keyring that never answers uses up its time.
      let storage = bus.storage(serviceTimeout: .seconds(fault == .mute ? 1 : 25))
      let start = ContinuousClock.now
      // The diagnosis doesn't write, but it searches, because a search that hangs stops reads too.
      let diagnosis = storage.diagnose()
      #expect(ContinuousClock.now - start < .seconds(20))
      #expect(diagnosis.failure?.code == code, "\(fault): \(diagnosis)")
      #expect(diagnosis.findings.last?.state == .failure)
      #expect(diagnosis.failure?.operation == .diagnose)
      // The finding names the program, unless that program has left the bus.
      if case .leave = fault { continue }
      let provider = diagnosis.findings.first { $0.subject == "provider" }
      #expect(provider?.text.contains("python3") == true, "\(fault): \(diagnosis)")
    }
    try service.restart()
    #expect(bus.storage().diagnose(writing: true).failure == nil)
  }

  @Test func `a session without encryption is a notice`() throws {
    let diagnosis = bus.storage().diagnose()
    diagnosis.expect(
      Self.unencrypted + ["collection: ok"], nil)
    #expect("\(diagnosis)".contains("python3"))
    try service.lock()
    bus.storage().diagnose(writing: true).expect(
      Self.unencrypted + ["collection: notice", "writing: notice"], nil)
    #expect(try bus.storage().isLocked())
    bus.storage(.never).diagnose(writing: true).expect(
      Self.unencrypted + ["collection: failure"], .locked)
  }

  @Test(arguments: [FakeService.Alias.none, .stale])
  func `a missing default collection fails without prompts`(alias: FakeService.Alias) throws {
    try service.takeName("org.gnome.keyring")
    try service.takeName("org.gnome.keyring.SystemPrompter")
    try service.alias(alias)
    let never = bus.storage(.never).diagnose(writing: true)
    #expect(never.failure?.code == .noDefaultCollection && never.findings.last?.state == .failure)
    #expect("\(never)".contains("collection/gone") == (alias == .stale))
    // Another collection may have the items, so none is offered.
    #expect(bus.storage().diagnose().failure?.code == .noDefaultCollection)
    let named = bus.storage(in: .named("none"))
    #expect(named.diagnose().failure?.code == .collectionNotFound)
  }

  /// It may have the program's items, so no other storage may take its place.
  @Test func `a collection that may be closed counts as locked`() throws {
    try service.hide(.collection)
    try service.lock()
    for collection in [SecretServiceStorage.Collection.default, .named("none")] {
      let storage = bus.storage(in: collection)
      #expect(storage.diagnose().failure?.code == .locked)
      #expect("\(storage.diagnose())".contains("may have closed it"))
    }
  }

  @Test func `a diagnosis that writes finds a failure to write`() throws {
    try service.fault("CreateItem", .error("org.freedesktop.DBus.Error.AccessDenied"))
    #expect(bus.storage().diagnose().failure == nil)
    let diagnosis = bus.storage().diagnose(writing: true)
    #expect(diagnosis.failure?.code == .accessDenied)
    #expect(diagnosis.findings.last?.subject == "writing")
    // A probe never asks the user. If prompts are allowed, the question isn't a fault.
    try service.fault("CreateItem", .prompt(.accept))
    let asking = bus.storage().diagnose(writing: true)
    #expect(asking.failure == nil && asking.findings.last?.state == .notice)
    #expect(asking.findings.last?.text.contains("asks the user before it stores") == true)
    #expect(bus.storage(.never).diagnose(writing: true).failure?.code == .locked)
    // A probe that stays behind is a fault.
    try service.reset()
    try service.fault("Delete", .prompt(.accept))
    #expect(bus.storage().diagnose(writing: true).failure?.operation == .remove)
  }

  @Test func `a diagnosis tells in advance that KeePassXC asks about new items`() throws {
    try service.takeName("org.keepassxc.KeePassXC.MainWindow")
    try service.fault("CreateItem", .prompt(.accept))
    let states = Self.unencrypted + ["collection: ok"]
    bus.storage().diagnose().expect(states + ["new items: notice"], nil)
    bus.storage().diagnose(writing: true).expect(
      states + ["new items: notice", "writing: notice"], nil)
    for writing in [true, false] {
      bus.storage(.never).diagnose(writing: writing)
        .expect(states + ["new items: failure"], .locked)
    }
    // The storage refuses what the diagnosis has announced.
    StorageUse.add.expectFailure(.locked, bus.storage(.never))
    try bus.storage().setPassword("s3cret", for: StorageUse.key)
  }

  @Test func `the advice fits the cause of the failure`() throws {
    try service.takeName("org.gnome.keyring")
    try service.takeName("org.gnome.keyring.SystemPrompter")
    try service.alias(.unreachable)
    let writing = bus.storage().diagnose(writing: true)
    #expect(
      writing.findings.last?.recoverySuggestion?.contains("Store a secret") == true, "\(writing)")
    #expect(!"\(writing)".contains("Unlock"))
    try service.restart()
    try service.lock()
    try service.fault("Unlock", .prompt(.type))
    #expect("\(bus.storage().diagnose(writing: true))".contains("Unlock the collection"))
    let never = StorageUse.save.expectFailure(
      .locked, bus.storage(.never), recoverySuggestion: "allow this program")
    #expect(never != nil)
    // Prompts are already allowed, so the advice to allow them wouldn't help.
    let allowed = StorageUse.save.expectFailure(
      .locked, bus.storage(), recoverySuggestion: "Unlock it with keyring-tool unlock, in your")
    #expect(allowed?.recoverySuggestion?.contains("allow") == false)
  }

  @Test func `a restart of the provider is not a failure`() throws {
    #expect(bus.storage().diagnose().failure == nil)
    try service.restart()
    let diagnosis = bus.storage().diagnose()
    #expect(diagnosis.failure == nil)
    #expect(diagnosis.findings.map(\.subject) == diagnosis.findings.map(\.subject).uniqued)
  }

  @Test func `a canceled diagnosis throws an error with the code canceled`() async throws {
    try service.fault("SearchItems", .mute)
    let storage = bus.storage()
    let task = Task { try await storage.diagnose() }
    try await service.waitForCall(of: "SearchItems")
    task.cancel()
    let error = await expectError(.canceled) { try await task.value }
    #expect(error?.operation == .diagnose)
  }
}

extension StorageDiagnosis {
  /// Expects these subjects and states, and this failure.
  fileprivate func expect(
    _ states: [String], _ code: SecureStorageError.Code?,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    #expect(
      findings.map { "\($0.subject): \($0.state)" } == states, "\(self)",
      sourceLocation: sourceLocation)
    #expect(failure?.code == code, "\(self)", sourceLocation: sourceLocation)
    for finding in findings where finding.state != .ok {
      #expect(
        finding.recoverySuggestion?.isEmpty == false, "\(finding)", sourceLocation: sourceLocation)
    }
  }
}

extension [String] {
  fileprivate var uniqued: [String] {
    reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
  }
}
#endif
