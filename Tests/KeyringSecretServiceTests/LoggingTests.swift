// SPDX-License-Identifier: Apache-2.0

#if Logging && SecretService && os(Linux)
import InMemoryLogging
import Keyring
import KeyringStorage
import Logging
import Testing

/// The events in the log of a program that uses a keyring.
@Suite struct LoggingTests {
  private struct Settings {
    @Password var token: String?
  }

  @Test(.inPrivateSession)
  func `operations log with the logger of their caller, without names and secrets`() async throws {
    let service = PrivateSession.newService()
    let storage = SecretServiceStorage(collection: Provider.current.fastestCollection)
    let settings = Settings(token: Password("canary", service: service, storage: storage))
    func log(_ body: () async throws -> Void) async rethrows -> [String] {
      let handler = InMemoryLogHandler()
      try await withLogger(logLevel: .trace, handler: handler) { _ in try await body() }
      #expect(!"\(handler.entries)".contains("canary") && !"\(handler.entries)".contains(service))
      return handler.entries.filter { $0.message == "Operation succeeded" }.map {
        "\($0.metadata["keyring.operation"] ?? "") \($0.metadata["keyring.backend"] ?? "")"
      }
    }
    #expect(await log { settings.token = "canary" } == ["save SecretServiceStorage"])
    #expect(await log { _ = settings.token } == ["read SecretServiceStorage"])
    let token = settings.$token
    #expect(try await log { _ = try await token.read() } == ["read SecretServiceStorage"])
    #expect(try await log { try await token.remove() } == ["remove SecretServiceStorage"])
  }
}
#endif
