// SPDX-License-Identifier: Apache-2.0

import Foundation
import Keyring
import KeyringFile
import KeyringStorage
import Testing

@Suite struct EncryptedFileTests {
  private let path = FileManager.default.temporaryDirectory
    .appendingPathComponent("encrypted-file-\(UUID().uuidString)/secrets").path

  private var key: KeySource { .keyFile(at: path + ".key") }

  private func removeDirectory() throws {
    try FileManager.default.removeItem(atPath: (path as NSString).deletingLastPathComponent)
  }

  @Test func `items are saved, found and removed`() throws {
    let storage = EncryptedFileStorage(at: path, key: key, timeout: .seconds(5))
    #expect(storage.path == path && storage.durability == .afterKill)
    #expect(storage.description == "EncryptedFileStorage(\(path))")
    #expect(storage.cacheLifetime == nil)
    #expect(storage.customMirror.children.isEmpty)
    let first = ItemKey.password(service: "service", account: "account")
    try storage.save(SecureItem(key: first, secret: Secret("s3cret")), mode: .add)
    defer { try? removeDirectory() }
    #expect(try storage.items(matching: .service("service")).count == 1)
    #expect(try storage.items(for: [first], details: .secret)[first]?.secret == Secret("s3cret"))
    #expect(try storage.item(for: first, details: .secret)?.secret == Secret("s3cret"))
    #expect(storage.diagnose(writing: true).failure == nil)
    #expect(try storage.removeItems(matching: .key(first)) == 1)
  }

  @Test func `the key of a file can be changed`() async throws {
    let storage = EncryptedFileStorage(at: path, key: key)
    let first = ItemKey.password(service: "service", account: "account")
    try await storage.setPassword("s3cret", for: first)
    defer { try? removeDirectory() }
    try changeKey(of: storage, to: .passphrase(Secret("pass")))
    let asking = KeySource.passphrase { _ throws(SecureStorageError) in Secret("pass") }
    #expect(try await EncryptedFileStorage(at: path, key: asking).password(for: first) == "s3cret")
    let other = InMemoryStorage()
    let otherKey = ItemKey.value(service: "service", account: "key of the file")
    try await storage.changeKey(to: .storage(other, key: otherKey))
    #expect(try await other.exists(otherKey))
    let error = #expect(throws: SecureStorageError.self) {
      try changeKey(of: storage, to: .systemdCredential("file-key"))
    }
    #expect(error?.code == .keyNotFound)
    #expect(error?.operation == .changeKey)
  }

  @Test func `an app can have its own key source`() async throws {
    let reading: KeySource.Reading = { (request) async throws(SecureStorageError) in
      switch request.purpose {
      case .opening, .creation: Secret(bytes: [UInt8](repeating: 7, count: 32))
      case .inspection:
        throw request.error(
          .locked, "\(request.backendName) can't have the key of the \(request.subject).")
      @unknown default: throw request.error(.other)
      }
    }
    let vault = KeySource(named: "vault", reading)
    #expect(vault.name == "vault")
    #if os(Linux)
    let bytes = Secret(bytes: [UInt8](repeating: 7, count: 32))
    #expect(KeySource.key(bytes).held(for: .seconds(60), in: KernelKeyring.session).name == "key")
    #expect(KeySource.command(["true"]).held(for: .seconds(60), in: .persistent).name == "command")
    #expect(KeySource.passphrase(command: ["true"]).name == "passphrase")
    let credential = KeySource.systemdCredential(
      at: path, named: "key", encryptedWith: KeySource.SystemdCredentialKey.tpm,
      for: KeySource.SystemdCredentialScope.user)
    #expect(credential.name == "systemd credential")
    let places: [KeySource.SystemdCredentialKey] = [.automatic, .host]
    let scopes: [KeySource.SystemdCredentialScope] = [.system]
    #expect(places.count + scopes.count == 3)
    // The keys of another run, which aren't needed any more
    try? KernelKeyring.session.forgetKeys()
    // This doesn't ask for a key.
    #expect(KeySource.secretPortal().name == "key of the Secret portal")
    #endif
    let storage = EncryptedFileStorage(at: path, key: vault)
    let first = ItemKey.password(service: "service", account: "account")
    try await storage.setPassword("s3cret", for: first)
    defer { try? removeDirectory() }
    let again = EncryptedFileStorage(at: path, key: vault)
    #expect(try await again.password(for: first) == "s3cret")
  }

  @Test func `damage is another error than a wrong key`() throws {
    let storage = EncryptedFileStorage(at: path, key: key)
    let first = ItemKey.password(service: "service", account: "account")
    try storage.setPassword("s3cret", for: first)
    defer { try? removeDirectory() }
    let wrong = EncryptedFileStorage(at: path, key: .passphrase(Secret("wrong")))
    var error = #expect(throws: SecureStorageError.self) { try wrong.exists(first) }
    #expect(error?.code == .wrongKey)
    try Data("KEYRING".utf8).write(to: URL(fileURLWithPath: path))
    error = #expect(throws: SecureStorageError.self) { try storage.exists(first) }
    #expect(error?.code == .damaged)
  }

  @Test func `changes are reported`() async throws {
    let storage = EncryptedFileStorage(at: path, key: key)
    let first = ItemKey.password(service: "service", account: "account")
    let (events, continuation) = AsyncStream<StorageEvent>.makeStream()
    let observation = try storage.observe(nil) { continuation.yield($0) }
    defer { try? removeDirectory() }
    try await storage.setPassword("s3cret", for: first)
    observation.cancel()
    continuation.finish()
    #expect(await events.contains(.changed(.created(first))))
  }

  @Test func `a key source has a description`() {
    #expect(key.description == "key file")
    #expect(key.customMirror.children.isEmpty)
  }

  private func changeKey(of storage: EncryptedFileStorage, to key: KeySource) throws {
    try storage.changeKey(to: key)
  }
}
