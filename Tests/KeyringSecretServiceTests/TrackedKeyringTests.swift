// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Keyring
import KeyringStorage
import TestPrograms
import Testing

/// Properties in a keyring that a view tracks while other programs change them.
@Suite(.inPrivateSession, .timeLimit(.minutes(2))) struct TrackedKeyringTests {
  private let service = PrivateSession.newService()

  /// The storages that an app may have.
  private static let storages: [any SecureStorage] = [
    SecretServiceStorage(), SecretServiceStorage().cached(),
  ]

  private func property(in storage: any SecureStorage) -> Password<String?> {
    Password("account", service: service, storage: storage)
  }

  @Test(arguments: storages.indices, [any OtherProgram].all)
  func `a view follows another program`(storage: Int, program: any OtherProgram) async throws {
    let property = property(in: Self.storages[storage])
    let follower = Follower { property.wrappedValue }
    #expect(follower.last == .some(nil))
    try program.set("first", service: service, username: "account")
    #expect(await waitUntil { follower.last == "first" })
    try program.remove(service: service, username: "account")
    #expect(await waitUntil { follower.last == .some(nil) })
    follower.end()
  }

  @Test func `a view follows another storage of its own program`() async throws {
    let property = property(in: SecretServiceStorage().cached())
    let follower = Follower { property.wrappedValue }
    try await SecretServiceStorage().setPassword("new", for: property.key)
    #expect(await waitUntil { follower.last == "new" })
    self.property(in: SecretServiceStorage()).wrappedValue = nil
    #expect(await waitUntil { follower.last == .some(nil) })
    follower.end()
  }
}
#endif
