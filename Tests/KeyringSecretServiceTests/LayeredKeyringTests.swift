// SPDX-License-Identifier: Apache-2.0

#if SecretService && EncryptedFile && os(Linux)
import Foundation
import Keyring
import KeyringFile
import KeyringStorage
import KeyringTesting
import Testing

/// A service's layers: the credentials that it's given, a real keyring, and a file.
@Suite(.withOwnKeyring) final class LayeredKeyringTests {
  private let directory = "/tmp/swift-keyring-\(UUID().uuidString)"
  private let service = "org.example.layers"
  private let bus: PrivateBus
  private let keyring: GnomeKeyring
  private let file: EncryptedFileStorage
  private let storage: LayeredStorage

  init() throws {
    bus = try PrivateBus()
    keyring = try GnomeKeyring(on: bus)
    try FileManager.default.createDirectory(
      atPath: directory + "/credentials", withIntermediateDirectories: true)
    file = EncryptedFileStorage(at: directory + "/secrets", key: .keyFile(at: directory + "/key"))
    storage = LayeredStorage([
      .reading(
        CredentialsDirectoryStorage(service: service, directory: directory + "/credentials")),
      .writing(bus.storage(.never), isRequired: false),
      .reading(file),
    ])
  }

  deinit { #expect(throws: Never.self) { try FileManager.default.removeItem(atPath: directory) } }

  private func key(_ account: String) -> ItemKey { .password(service: service, account: account) }

  @Test func `each secret comes from its own layer`() async throws {
    try Data("1".utf8).write(to: URL(fileURLWithPath: directory + "/credentials/given"))
    try await bus.storage().setPassword("2", for: key("given"))
    try await bus.storage().setPassword("2", for: key("kept"))
    try await file.setPassword("3", for: key("kept"))
    try await file.setPassword("3", for: key("default"))
    let layers: [String: String] = try await withSecureStorage(storage) {
      var origins: [String: String] = [:]
      for account in ["given", "kept", "default", "none"] {
        let property = Password(account, service: service)
        let origin = try await property.origin()
        origins[account] = origin.map { "\($0): \(property.wrappedValue ?? "nil")" }
      }
      return origins
    }
    #expect(
      layers == [
        "given": "CredentialsDirectoryStorage: 1", "kept": "SecretServiceStorage: 2",
        "default": "EncryptedFileStorage: 3",
      ])
    let found = try await storage.items(matching: .service(service, details: .secret))
    #expect(Set(found.compactMap(\.secret?.text)) == ["1", "2", "3"])
    try await storage.setPassword("new", for: key("kept"))
    #expect(try await bus.storage().password(for: key("kept")) == "new")
  }

  @Test func `a locked keyring hides no item behind a file`() throws {
    try bus.storage().setPassword("2", for: key("kept"))
    try file.setPassword("3", for: key("kept"))
    try bus.storage(.never).lock()
    let error = #expect(throws: SecureStorageError.self) { try storage.password(for: key("kept")) }
    #expect(error?.code == .locked && error?.backendName == "SecretServiceStorage")
    #expect(storage.diagnose().failure?.code == .locked)
  }

  @Test func `a keyring that is gone is skipped by reads only`() throws {
    try bus.storage().setPassword("2", for: key("kept"))
    try file.setPassword("3", for: key("kept"))
    try keyring.kill()
    #expect(try storage.password(for: key("kept")) == "3")
    let error = #expect(throws: SecureStorageError.self) {
      try storage.setPassword("new", for: key("kept"))
    }
    #expect(error?.backendName == "SecretServiceStorage")
    #expect(try file.password(for: key("kept")) == "3")
  }
}
#endif
