// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Keyring
import KeyringStorage
import Testing

@testable import KeyringSecretService

/// A bus without a provider of the Secret Service.
@Suite(.withOwnKeyring) struct NoProviderTests {
  @Test func `a bus without a provider is an error with advice`() throws {
    let bus = try PrivateBus()
    StorageUse.allCases.expectFailures(
      .noProvider, bus.storage(), cause: "org.freedesktop.secrets",
      recoverySuggestion: "gnome-keyring")
  }

  @Test(arguments: ["/nonexistent/keyring", "/bin/false", "/bin/sh -c 'kill -9 $$'"])
  func `a keyring that fails to start is an error with advice`(command: String) throws {
    let bus = try PrivateBus(activation: command)
    StorageUse.allCases.expectFailures(
      .providerFailed, bus.storage(), cause: "A keyring is installed",
      recoverySuggestion: "Start it by hand, for example with gnome-keyring-daemon")
    try expectFailedProvider(bus.storage())
  }

  /// Only ksecretd's other name starts it.
  @Test(arguments: StorageUse.allCases)
  func `a provider is started by its other name`(use: StorageUse) throws {
    let bus = try Self.busWithOtherName()
    try use(bus.storage())
  }

  @Test func `an observation starts a provider by its other name`() throws {
    let bus = try Self.busWithOtherName()
    try bus.storage().observe(nil) { _ in }.cancel()
    #expect(bus.storage().diagnose().failure == nil)
  }

  private static func busWithOtherName() throws -> PrivateBus {
    let name = "org.kde.secretservicecompat"
    let script = Program.pathOfScript("fake-service.py")
    return try PrivateBus(activation: "/usr/bin/python3 -I \(script) \(name)", of: [name])
  }

  @Test func `a provider that its other name does not start is an error with advice`() throws {
    let bus = try PrivateBus(activation: "/bin/false", of: ["org.kde.secretservicecompat"])
    StorageUse.allCases.expectFailures(
      .providerFailed, bus.storage(), cause: "KWallet is installed, but doesn't run",
      recoverySuggestion: "start ksecretd by hand")
    try expectFailedProvider(bus.storage())
    #expect("\(bus.storage().diagnose())".contains("KWallet is installed"))
  }

  @Test func `a provider that runs and does not take its name is an error with advice`() throws {
    let bus = try PrivateBus(
      activation: "/usr/bin/gdbus wait --session --timeout 20 org.example.Never",
      of: ["org.kde.secretservicecompat"])
    StorageUse.read.expectFailure(
      .providerFailed, bus.storage(serviceTimeout: .seconds(4)),
      cause: "KWallet is installed, but doesn't run")
  }

  /// dbus-broker has the same error for both.
  @Test func `a provider that fails to start is told apart from a missing one`() throws {
    let none = try FakeBus()
    StorageUse.allCases.expectFailures(.noProvider, none.storage, recoverySuggestion: "Install")
    #expect(none.storage.diagnose().failure?.code == .noProvider)
    let installed = try FakeBus(activatable: MethodCall.secrets)
    StorageUse.allCases.expectFailures(
      .providerFailed, installed.storage, cause: "startup job failed")
    try expectFailedProvider(installed.storage)
  }

  private func expectFailedProvider(_ storage: SecretServiceStorage) throws {
    #expect(storage.diagnose().failure?.code == .providerFailed)
    try storage.expectNoOtherSelection(.providerFailed)
    expectError(.providerFailed) { try storage.observe(nil) { _ in } }
  }

  @Test(.tags(.slow)) func `a start that never finishes times out`() throws {
    // The command waits for a name that never appears, until the bus is gone.
    let bus = try PrivateBus(activation: "/usr/bin/env gdbus wait --session org.example.Never")
    StorageUse.allCases.expectFailures(
      .timedOut, bus.storage(serviceTimeout: .milliseconds(300)),
      recoverySuggestion: "estart the keyring")
  }
}
#endif
