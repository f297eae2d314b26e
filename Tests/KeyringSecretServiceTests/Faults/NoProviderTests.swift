#if SecretService && os(Linux)
import Keyring
import Testing

@testable import KeyringSecretService

/// A bus, and nobody on it who keeps secrets.
@Suite(.inPrivateSession) struct NoProviderTests {
  @Test func nobodyProvidesTheService() throws {
    let bus = try PrivateBus()
    for use in Use.allCases {
      use.expectFailure(
        .noProvider, bus.storage(), cause: "org.freedesktop.secrets", advice: "gnome-keyring")
    }
  }

  @Test(arguments: ["/nonexistent/keyring", "/bin/false", "/bin/sh -c 'kill -9 $$'"])
  func activationFails(command: String) throws {
    let bus = try PrivateBus(activation: command)
    for use in Use.allCases {
      use.expectFailure(
        .providerFailed, bus.storage(), cause: "A keyring is installed",
        advice: "Start it by hand, as with gnome-keyring-daemon")
    }
    try expectNoOtherChoice(.providerFailed, bus.storage())
    let error = #expect(throws: SecureStorageError.self) {
      try bus.storage().observe(nil) { _ in }
    }
    #expect(error?.code == .providerFailed)
  }

  /// dbus-broker has the same error for both.
  @Test func aNameThatCouldBeStartedIsNotNobodys() throws {
    let none = try FakeBus()
    for use in Use.allCases { use.expectFailure(.noProvider, none.storage, advice: "Install") }
    #expect(none.storage.diagnose().failure?.code == .noProvider)
    let installed = try FakeBus(activatable: Message.secrets)
    for use in Use.allCases {
      use.expectFailure(.providerFailed, installed.storage, cause: "startup job failed")
    }
    #expect(installed.storage.diagnose().failure?.code == .providerFailed)
    try expectNoOtherChoice(.providerFailed, installed.storage)
    let error = #expect(throws: SecureStorageError.self) {
      try installed.storage.observe(nil) { _ in }
    }
    #expect(error?.code == .providerFailed)
  }

  private func expectNoOtherChoice(
    _ code: SecureStorageError.Code, _ storage: SecretServiceStorage
  ) throws {
    let file = InMemoryStorage()
    let choosing = FirstAvailable([storage, file])
    let error = #expect(throws: SecureStorageError.self) {
      try choosing.setPassword("s3cret", for: Use.key)
    }
    #expect(error?.code == code)
    #expect(try !file.exists(Use.key))
  }

  @Test func activationNeverFinishes() throws {
    // It waits for what never comes, until the bus is gone.
    let bus = try PrivateBus(activation: "/usr/bin/env gdbus wait --session org.example.Never")
    for use in Use.allCases {
      use.expectFailure(
        .timedOut, bus.storage(serviceTimeout: .milliseconds(300)), advice: "try again")
    }
  }
}
#endif
