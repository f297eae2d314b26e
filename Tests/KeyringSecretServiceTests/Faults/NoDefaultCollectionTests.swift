#if SecretService && os(Linux)
import Dispatch
import Keyring
import Synchronization
import Testing

/// A keyring that has no default collection yet, as on an account that was never logged into.
@Suite(.inPrivateSession) struct NoDefaultCollectionTests {
  private let bus: PrivateBus
  private let keyring: GnomeKeyring

  init() throws {
    bus = try PrivateBus()
    keyring = try GnomeKeyring(on: bus, hasCollection: false)
  }

  @Test func thereIsNothingToFind() throws {
    for storage in [bus.storage(), bus.storage(.never)] {
      #expect(try storage.password(for: StorageUse.key) == nil)
      #expect(try storage.items(matching: .service("service")).isEmpty)
      #expect(try storage.remove(StorageUse.key) == false)
    }
  }

  @Test(arguments: [StorageUse.save, .add, .propertyWrite, .lock, .unlock])
  func withoutAskingThereIsNone(use: StorageUse) {
    use.expectFailure(.noDefaultCollection, bus.storage(.never), recoverySuggestion: "Create one")
  }

  @Test(arguments: [StorageUse.save, .add, .propertyWrite])
  func withNobodyToAskThereIsNone(use: StorageUse) {
    let error = use.expectFailure(
      .noDefaultCollection, bus.storage(), cause: "no program shows its prompt",
      recoverySuggestion: "Create one")
    #expect(error?.recoverySuggestion?.contains("allow") == false)
    // A diagnosis says the same.
    #expect(bus.storage().diagnose().failure?.code == error?.code)
  }

  @Test func savingMakesItWithTheUsersAnswer() throws {
    let storage = bus.storage()
    try Prompter.agreeing(on: bus) { try storage.setPassword("s3cret", for: StorageUse.key) }
    #expect(try storage.password(for: StorageUse.key) == "s3cret")
    #expect(try storage.collections().filter(\.isDefault).map(\.label) == ["Default keyring"])
    try storage.setPassword("another", for: .password(service: "service", account: "another"))
  }

  @Test func decliningIsAnErrorAndMakesNone() throws {
    let prompter = try Prompter(.dismiss, .dismiss, .dismiss, on: bus)
    for use in [StorageUse.save, .add, .propertyWrite] {
      use.expectFailure(.userCanceled, bus.storage())
    }
    #expect(try prompter.finish() == 3)
    #expect(try !bus.storage().collections().contains(where: \.isDefault))
  }

  @Test func threadsThatMeetMakeOne() throws {
    let storage = bus.storage()
    try Prompter.agreeing(on: bus) {
      let failures = Mutex<[any Error]>([])
      let group = DispatchGroup()
      for number in 0..<8 {
        DispatchQueue(label: "\(number)").async(group: group) {
          do {
            try storage.setPassword("s3cret", for: .password(service: "s", account: "\(number)"))
          } catch {
            failures.withLock { $0.append(error) }
          }
        }
      }
      group.wait()
      if let failure = failures.withLock({ $0.first }) { throw failure }
    }
    #expect(try storage.items(matching: .service("s")).count == 8)
  }
}
#endif
