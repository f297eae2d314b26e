// SPDX-License-Identifier: Apache-2.0

import Keyring
import KeyringStorage
import Testing

@Suite struct ScopeTests {
  private let storage = InMemoryStorage()

  @Test func `a service sets, gets, lists and removes items`() throws {
    let service = storage.service("service")
    for account in ["beta", "alpha"] { try service.password(account).write("of \(account)") }
    try service.credential("account").write(Credential(login: "ada", password: "pa55"))
    try service.value("list").write(["a", "b"])
    #expect(try service.password("alpha").read() == "of alpha")
    #expect(try service.names() == ["alpha", "beta"])
    #expect(try service.names(of: .credentials) == ["account"])
    #expect(try service.credential("account").read()?.login == "ada")
    #expect(try service.value("list", as: [String].self).read() == ["a", "b"])
    #expect(try service.password("alpha").remove())
    #expect(try !service.password("alpha").remove())
    #expect(try storage.service("another").removeAll().count == 0)
    #expect(try service.removeAll().count == 3)
    #expect(try storage.items(matching: ItemQuery()).isEmpty)
  }
}
