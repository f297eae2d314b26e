// SPDX-License-Identifier: Apache-2.0

internal import Keyring
internal import KeyringStorage

/// The trial of removals: the right items go, and no others.
extension ContractTrial {
  func removingAbsentSaysZero() throws {
    try expect(!storage.remove(password()), "removing an absent item removed one")
    let count = try storage.removeItems(matching: .service(service))
    try expect(count == 0, "removing the items of a service without any removed \(count)")
    try save("present", password())
    try expect(storage.remove(password()), "removing a present item removed none")
    try expect(secret(password()) == nil, "a removed item was read")
    try expect(!storage.remove(password()), "removing an item twice removed it twice")
  }

  func removingServiceLeavesOthers() throws {
    let other = ItemKey.password(service: otherService, account: "account")
    try save("kept", other)
    for account in ["one", "two", "three"] { try save(account, password(account)) }
    try credential().write(Credential(login: "login", password: "password"))

    let count = try storage.removeItems(matching: .service(service, kind: .credentials))
    try expect(count == 1, "removing a service's only credential removed \(count) items")
    try expectStored("two", password("two"), "after removing another kind")
    let rest = try storage.removeItems(matching: .service(service))
    try expect(rest == 3, "removing a service's three items removed \(rest)")
    let left = try storage.items(matching: .service(service)).count
    try expect(left == 0, "\(left) items are left of a removed service")
    try expectStored("kept", other, "after removing another service")
  }

  func removingEverythingIsRefused() throws {
    try save("kept", password())
    for query in [ItemQuery(), ItemQuery(kind: .password)] {
      try expect(.invalidArgument, "query", of: "removing items without a key or an attribute") {
        try storage.removeItems(matching: query)
      }
    }
    try expectStored("kept", password(), "after a refused removal")
  }
}
