// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Dispatch
import Keyring
import KeyringStorage
import Synchronization
import Testing

/// A keyring without a default collection, as on an account before its first login.
@Suite(.withOwnKeyring) struct NoDefaultCollectionTests {
  private let bus: PrivateBus
  private let keyring: GnomeKeyring

  init() throws {
    (bus, keyring) = try PrivateBus.with { try GnomeKeyring(on: $0, hasCollection: false) }
  }

  @Test func `a keyring without a default collection is empty`() throws {
    for storage in [bus.storage(), bus.storage(.never)] {
      #expect(try storage.password(for: StorageUse.key) == nil)
      #expect(try storage.items(matching: .service("service")).isEmpty)
      #expect(try storage.remove(StorageUse.key) == false)
    }
  }

  @Test(arguments: [StorageUse.save, .add, .propertyWrite, .lock, .unlock])
  func `a use that may not ask fails without a default collection`(use: StorageUse) {
    use.expectFailure(
      .noDefaultCollection, bus.storage(.never),
      recoverySuggestion: "Create one with keyring-tool unlock")
  }

  @Test(arguments: [StorageUse.save, .add, .propertyWrite])
  func `a save fails if no program can ask for a new collection`(use: StorageUse) {
    let error = use.expectFailure(
      .noDefaultCollection, bus.storage(), cause: "no program shows its prompt",
      recoverySuggestion: "Create one with keyring-tool unlock at a terminal")
    #expect(error?.recoverySuggestion?.contains("allow") == false)
    // A diagnosis says the same.
    #expect(bus.storage().diagnose().failure?.code == error?.code)
  }

  @Test func `a save creates the default collection if the user agrees`() throws {
    let storage = bus.storage()
    try Prompter.agreeing(on: bus) { try storage.setPassword("s3cret", for: StorageUse.key) }
    #expect(try storage.password(for: StorageUse.key) == "s3cret")
    #expect(try storage.collections().filter(\.isDefault).map(\.label) == ["Default keyring"])
    try storage.setPassword("another", for: .password(service: "service", account: "another"))
  }

  @Test func `a save that the user declines fails and creates no collection`() throws {
    let prompter = try Prompter(.dismiss, .dismiss, .dismiss, on: bus)
    [StorageUse.save, .add, .propertyWrite].expectFailures(.userCanceled, bus.storage())
    #expect(try prompter.finish() == 3)
    #expect(try !bus.storage().collections().contains(where: \.isDefault))
  }

  @Test func `threads that save at once create one collection`() throws {
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
