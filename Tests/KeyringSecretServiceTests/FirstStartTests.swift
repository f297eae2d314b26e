// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Keyring
import KeyringStorage
import TestPrograms
import Testing

@testable import KeyringSecretService

/// Programs that generate their keys when they start for the first time, all at the same moment.
///
/// The tests have no sanitizer, because they look at other processes, and wait for them.
@Suite(.inPrivateSession, .tags(.unsanitized)) struct FirstStartTests {
  private let service = PrivateSession.newService()
  private let storage = SecretServiceStorage()

  /// Unlocks the keyring, because the programs don't ask the user.
  init() throws { try storage.unlock() }

  @Test(arguments: 1...4) func `sixteen programs use one key`(round: Int) throws {
    let lines = try FirstStarts.run(16, in: "default", service: service)
    // A KeePassXC that has crashed is an error, but never a second key.
    let used = Set(Provider.current == .keepassxc ? lines.filter { $0 != "failed" } : lines)
    let key = try storage.password(for: .password(service: service, account: "key"))
    let account = try storage[.credentials(service: service, label: "account"), as: .credential]
      .read()
    let session = try storage[
      .value(service: service, account: "session"), as: .value([String: String].self)
    ].read()
    let stored = [
      key, account.map { "\($0.login)/\($0.password)" }, session?["name"],
    ].map { $0 ?? "nothing" }
    #expect(used == [stored.joined(separator: " ") + "\n"])
    #expect(try countStoredItems(["service": service]) == 3)
    try storage.removeItems(matching: .service(service))
  }

  @Test(
    .enabled(if: Provider.current != .keepassxc, "it crashes if several programs remove an item"))
  func `sixteen programs move an item to another name`() throws {
    let old = ItemKey.password(service: service, account: "old")
    try storage.setPassword("s3cret", for: old)
    let lines = try FirstStarts.move(16, in: "default", service: service)
    #expect(Set(lines) == ["s3cret\n"])
    #expect(try !storage.exists(old))
    #expect(try countStoredItems(["service": service]) == 1)
    try storage.removeItems(matching: .service(service))
  }
}
#endif
