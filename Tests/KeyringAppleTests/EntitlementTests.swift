// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import AppleKeychainModel
import Keyring
import KeyringApple
import KeyringRuntime
import KeyringStorage
import StandInKeychain
import TestPrograms
import Testing

struct EntitlementTests {
  let device = KeychainModel()
  let key = ItemKey.password(service: "service", account: "account")

  @Test(arguments: [Platform.macOS, .iOS])
  func `nothing reads as absent without an entitlement`(platform: Platform) throws {
    let program = Caller(accessGroups: [], platform: platform)
    try AppleKeychainStorage(on: device).setPassword("s3cret", for: key)
    let storage = AppleKeychainStorage(on: device, for: program)
    for _ in 1...2 {
      expectError(.noStorage) { try storage.secret(for: key) }
      expectError(.noStorage) { try storage.items(for: [key], details: .all) }
      expectError(.noStorage) { try storage.exists(key) }
      for query in [ItemQuery(), .service("service"), .service("service", kind: .credentials)] {
        expectError(.noStorage) { try storage.items(matching: query) }
      }
      expectError(.noStorage) { try storage.remove(key) }
      expectError(.noStorage) { try storage.removeItems(matching: .service("service")) }
      for mode in [SaveMode.add, .update, .addOrReplace] {
        expectError(.noStorage) { try storage.setPassword("other", for: key, mode: mode) }
      }
      expectError(.noStorage) { try storage.updateProtection(of: key) }
    }
    #expect(storage.diagnose().failure?.code == .noStorage)
    #expect(storage.diagnose(writing: true).failure?.code == .noStorage)
  }

  @Test(arguments: [Platform.macOS, .iOS])
  func `a group's items aren't denied to a program without any entitlement`(
    platform: Platform
  ) throws {
    let program = Caller(accessGroups: [], platform: platform)
    // Each operation is the first one of its storage.
    func storage() -> AppleKeychainStorage {
      AppleKeychainStorage(
        .dataProtection(accessGroup: "TEAM.shared"), on: device, for: program)
    }
    expectError(.noStorage) { try storage().password(for: key) }
    expectError(.noStorage) { try storage().setPassword("s3cret", for: key) }
    expectError(.noStorage) { try storage().setPassword("s3cret", for: key, mode: .add) }
    expectError(.noStorage) { try storage().remove(key) }
    expectError(.noStorage) { try storage().updateProtection(of: key) }
    let next = FirstAvailableStorage([storage(), InMemoryStorage()], remembering: .nowhere)
    try next.setPassword("s3cret", for: key)
    #expect(try next.password(for: key) == "s3cret")
  }

  @Test func `a task that is cancelled leaves no probe behind`() throws {
    try AppleKeychainStorage(on: device).setPassword("s3cret", for: key)
    let signal = Cancellation()
    let calls = RecordingKeychain(device, before: .add) { signal.cancel() }
    let storage = AppleKeychainStorage(.dataProtection(), calls: calls)
    expectError(.canceled) {
      try Cancellation.$current.withValue(signal) { try storage.password(for: key) }
    }
    #expect(calls.functions == [.add, .delete])
    #expect(device.rows.count == 1)
    // A program that is killed at that moment does.
    try storage.setPassword("", for: ItemKey.value(service: "swift-keyring probe", account: "x"))
    #expect(try storage.items(matching: ItemQuery()).map(\.key) == [key])
    #expect(try storage.removeItems(matching: .service("swift-keyring probe")) == 1)
    #expect(device.rows.count == 1)
  }

  @Test func `a keychain that names no group keeps no probe`() throws {
    try AppleKeychainStorage(on: device).setPassword("s3cret", for: key)
    let calls = RecordingKeychain(device, isTaciturn: true)
    let storage = AppleKeychainStorage(.dataProtection(), calls: calls)
    expectError(.other) { try storage.password(for: key) }
    #expect(device.rows.count == 1)
  }

  @Test func `an item that is absent is confirmed, at first and in the file each time`() throws {
    let calls = RecordingKeychain(device)
    let storage = AppleKeychainStorage(.dataProtection(accessGroup: "TEAM.app"), calls: calls)
    for _ in 1...3 { #expect(try storage.password(for: key) == nil) }
    #expect(calls.functions == [.copyMatching, .add, .delete, .copyMatching, .copyMatching])
    #expect(device.rows.isEmpty)
    let fileCalls = RecordingKeychain(device)
    let file = AppleKeychainStorage(.fileBased, calls: fileCalls)
    for _ in 1...3 { #expect(try file.password(for: key) == nil) }
    let confirmed: [RecordingKeychain.Function] = [.copyMatching, .status]
    #expect(fileCalls.functions == confirmed + confirmed + confirmed)
  }

  @Test func `a signature that doesn't confirm the identifier is no entitlement`() throws {
    var program = Caller()
    program.isConfirmed = false
    let storage = AppleKeychainStorage(on: device, for: program)
    expectError(.noStorage) { try storage.password(for: key) }
    expectError(.noStorage) { try storage.items(matching: ItemQuery()) }
  }

  /// The program of the tutorial, which `swift run` starts on a Mac.
  @Test func `a tool without a signature keeps its account`() throws {
    struct Settings {
      @Credentials("account", service: "org.example.SignIn") var account: Credential?
      @Password("authToken", service: "org.example.SignIn") var authToken: String?
    }
    let tool = Caller("SignIn", accessGroups: [], hash: "1")
    let account = Credential(login: "ada", password: "pa55")
    for isSecondRun in [false, true] {
      try withSecureStorage(AppleKeychainStorage(.fileBased, on: device, for: tool)) {
        let settings = Settings()
        #expect(settings.account == (isSecondRun ? account : nil))
        try settings.$account.write(account)
        try settings.$authToken.write("t0ken")
        if isSecondRun { #expect(try SecureProperties(of: settings).removeAll().count == 2) }
      }
    }
    #expect(device.rows.isEmpty && device.prompts.isEmpty)
  }

  @Test func `Catalyst has only the data protection keychain`() throws {
    let storage = AppleKeychainStorage(on: device, for: Caller(platform: .catalyst))
    try storage.setPassword("s3cret", for: key)
    #expect(try storage.password(for: key) == "s3cret")
    #expect(device.rows.first?.attributes["agrp"]?.string == "TEAM.app")
  }

  @Test func `a group that isn't the program's own denies access`() throws {
    let storage = AppleKeychainStorage(.dataProtection(accessGroup: "OTHER.app"), on: device)
    expectError(.accessDenied) { try storage.password(for: key) }
    expectError(.accessDenied) { try storage.setPassword("s3cret", for: key) }
    expectError(.accessDenied) { try storage.remove(key) }
    let own = AppleKeychainStorage(on: device)
    let other = ItemKey.password(service: "service", account: "account", accessGroup: "OTHER.app")
    expectError(.accessDenied) { try own.password(for: other) }
  }

  @Test func `items of several groups are apart`() throws {
    let program = Caller(accessGroups: ["TEAM.app", "TEAM.shared"])
    let shared = ItemKey.password(
      service: "service", account: "account", accessGroup: "TEAM.shared")
    // Another run of the program doesn't know yet which group is its first.
    func storage() -> AppleKeychainStorage { AppleKeychainStorage(on: device, for: program) }
    try storage().setPassword("shared", for: shared)
    #expect(try storage().password(for: key) == nil)
    expectError(.itemNotFound) { try storage().setPassword("x", for: key, mode: .update) }
    #expect(try !storage().remove(key))
    try storage().setPassword("own", for: key)
    try storage().setPassword("changed", for: key)
    #expect(try storage().password(for: shared) == "shared")
    #expect(try Set(storage().items(matching: ItemQuery()).map(\.key)) == [key, shared])
    // Naming the own group is the same item, and another storage's own group is another one.
    let named = ItemKey.password(service: "service", account: "account", accessGroup: "TEAM.app")
    #expect(try storage().password(for: named) == "changed")
    let other = AppleKeychainStorage(
      .dataProtection(accessGroup: "TEAM.shared"), on: device, for: program)
    #expect(try other.password(for: key) == "shared")
    #expect(try storage().remove(key))
    #expect(try storage().password(for: shared) == "shared")
    #expect(device.rows.count == 1)
  }

  @Test func `without Apple's frameworks the next storage is used`() throws {
    let storage = FirstAvailableStorage(
      [AppleKeychainStorage(), AppleKeychainStorage(.fileBased), InMemoryStorage()],
      remembering: .nowhere)
    try storage.setPassword("s3cret", for: key)
    #expect(try storage.password(for: key) == "s3cret")
    expectError(.noStorage) { try AppleKeychainStorage().password(for: key) }
    expectError(.noStorage) { try AppleKeychainStorage(.fileBased).updateProtection(of: key) }
  }
}
#endif
