// SPDX-License-Identifier: Apache-2.0

import Keyring
import KeyringStorage
import Testing

@Suite struct ScopeTests {
  private let storage = InMemoryStorage()

  @Test func `a service sets, gets, lists and removes items`() throws {
    let service = storage.service("service")
    for account in ["beta", "alpha"] { try service.setPassword("of \(account)", for: account) }
    try service.setCredential(Credential(login: "ada", password: "pa55"), labeled: "account")
    try service.setValue(["a", "b"], for: "list")
    #expect(try service.password(for: "alpha") == "of alpha")
    #expect(try service.accounts() == ["alpha", "beta"])
    #expect(try service.credentialLabels() == ["account"])
    #expect(try service.credential(labeled: "account")?.login == "ada")
    #expect(try service.value([String].self, for: "list") == ["a", "b"])
    #expect(try service.removePassword(for: "alpha"))
    #expect(try !service.removePassword(for: "alpha"))
    #expect(try storage.service("another").removeAll().count == 0)
    #expect(try service.removeAll().count == 3)
    #expect(try storage.items(matching: ItemQuery()).isEmpty)
  }

  @Test func `a service lists and removes each kind by itself`() throws {
    let service = storage.service("service")
    try service.setPassword("s3cret", for: "name")
    try service.setValue([1], for: "name")
    try service.setCredential(Credential(login: "ada", password: "pa55"), labeled: "name")
    #expect(try service.valueAccounts() == ["name"])
    #expect(try service.removeValue(for: "name"))
    #expect(try service.valueAccounts().isEmpty && service.accounts() == ["name"])
    #expect(try service.removeCredential(labeled: "name"))
    #expect(try !service.removeCredential(labeled: "name"))
    #expect(try service.password(for: "name") == "s3cret")
  }

  @Test func `a service refuses to add a duplicate`() throws {
    let service = storage.service("service")
    try service.setPassword("first", for: "account", mode: .add)
    #expect(throws: SecureStorageError.self) {
      try service.setPassword("second", for: "account", mode: .add)
    }
    #expect(try service.password(for: "account") == "first")
  }
}
