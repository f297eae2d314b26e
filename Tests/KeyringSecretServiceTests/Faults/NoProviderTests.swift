#if SecretService && os(Linux)
import Keyring
import Testing

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
      use.expectFailure(.noProvider, bus.storage(), advice: "gnome-keyring")
    }
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
