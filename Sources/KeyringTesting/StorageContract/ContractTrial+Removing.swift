// SPDX-License-Identifier: Apache-2.0

internal import Keyring
internal import KeyringStorage

// Rules 5 and 6: removing removes the right items and no others.
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

  func removingLockedFails() throws {
    try save("present", password())
    try whileLocked { storage in
      try expect(.locked, of: "removing a locked item") { try storage.remove(password()) }
      for allowsUnlocking in [true, false] {
        try expect(.locked, of: "removing a locked service") {
          try storage.removeItems(
            matching: ItemQuery(attributes: ["service": service], allowsUnlocking: allowsUnlocking))
        }
      }
    }
    try expectStored("present", password(), "after a refused removal")
  }

  func removingServiceLeavesOthers() throws {
    let other = ItemKey.password(service: otherService, account: "account")
    try save("kept", other)
    for account in ["one", "two", "three"] { try save(account, password(account)) }
    try storage[credentials(), as: .credential].write(
      Credential(login: "login", password: "password"))

    let count = try storage.removeItems(matching: .service(service, kind: .credentials))
    try expect(count == 1, "removing a service's only credential removed \(count) items")
    try expectStored("two", password("two"), "after removing another kind")
    let rest = try storage.removeItems(matching: .service(service))
    try expect(rest == 3, "removing a service's three items removed \(rest)")
    let left = try storage.items(matching: .service(service)).count
    try expect(left == 0, "\(left) items are left of a removed service")
    try expectStored("kept", other, "after removing another service")
  }

  func itemsOfAnyShapeAreListed() throws {
    let schema = "org.example.Schema"
    let keys = [
      password("name"), password("name").with(schema: schema),
      ItemKey(kind: .password, attributes: ["service": service, "account": "name"]),
      ItemKey(kind: .password, attributes: ["service": service, "key": "name"], schema: schema),
      ItemKey(kind: .value, attributes: ["service": service, "username": "name", "folder": ""]),
    ]
    for key in keys { try save("\(key)", key, mode: .add) }
    func listed(_ query: ItemQuery) throws -> Set<ItemKey> {
      Set(try storage.items(matching: query).map(\.key))
    }
    try expect(
      listed(.service(service)) == Set(keys), "a list of a service isn't that of its items")
    for (name, count) in ["account": 1, "username": 2, "key": 1] {
      let query = ItemQuery(attributes: ["service": service, name: "name"])
      let found = try listed(query)
      try expect(found.count >= count, "a list by the attribute \"\(name)\" has \(found)")
      let removed = try storage.removeItems(matching: query)
      try expect(
        removed == found.count, "a removal of \(found.count) listed items removed \(removed)")
      for key in keys where found.contains(key) {
        try expect(!storage.exists(key), "a removed item is there")
      }
    }
    let left = try listed(.service(service))
    try expect(left.isEmpty, "removing what is listed left \(left)")
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
