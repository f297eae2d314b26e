// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Keyring
import KeyringStorage
import Testing

/// Tests of the Secret Service that never call it.
@Suite struct SecretServiceTests {
  @Test func `every option can be set`() {
    typealias Options = SecretServiceStorage.Options
    var options = Options(
      collection: .default, interaction: .allowed, serviceTimeout: .seconds(25),
      promptTimeout: .seconds(300), busAddress: nil, allowsUnencryptedSession: false)
    #expect(options == SecretServiceStorage().options)
    options.collection = SecretServiceStorage.Collection.named("work")
    options.interaction = SecretServiceStorage.Interaction.never
    #expect(
      SecretServiceStorage(collection: .named("work"), interaction: .never).options == options)
    options.collection = .session
    options.serviceTimeout = .seconds(1)
    options.promptTimeout = .seconds(2)
    options.busAddress = "unix:path=/nonexistent"
    options.allowsUnencryptedSession = true
    #expect(SecretServiceStorage(options: options).options == options)
    #expect(SecretServiceStorage().collection(labeled: "work").options.collection == .named("work"))
  }

  /// No bus is at the address.
  @Test func `every operation without a bus is an error`() throws {
    let storage = SecretServiceStorage(
      options: SecretServiceStorage.Options(busAddress: "unix:path=/nonexistent"))
    let key = ItemKey.password(service: "service", account: "account")
    for body: () throws -> Void in [
      { try storage.save(SecureItem(key: key, secret: Secret("s3cret")), mode: .add) },
      { _ = try storage.items(matching: .key(key)) },
      { _ = try storage.items(for: [key], details: .all) },
      { try storage.removeItems(matching: .key(key)) },
      { try storage.lock() },
      { try storage.unlock() },
      { try storage.waitUntilWritten() },
      { _ = try storage.isLocked() },
      { _ = try storage.collections() },
      { try storage.createCollection(labeled: "work") },
      { try storage.deleteCollection(labeled: "work") },
      { _ = try storage.observe(nil) { _ in } },
    ] {
      let error = #expect(throws: SecureStorageError.self) { try body() }
      #expect(error?.code == .noSessionBus)
    }
    #expect(try storage.isSharedCollection())
  }
}
#endif
