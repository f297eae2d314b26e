// SPDX-License-Identifier: Apache-2.0

internal import Keyring
internal import KeyringStorage

/// The trial of keys: each names one item, and no key means the item of another one.
extension ContractTrial {
  func keysNeverCollide() throws {
    let keys: [ItemKey] = [
      password("name"), password("Name"), password("name "), password("name*"),
      .password(service: otherService, account: "name"),
      credentials("name"), .credentials(service: otherService, label: "name"),
      // A custom kind, with fewer parts, the same parts, and more parts.
      ItemKey(kind: .custom, attributes: ["service": service]),
      ItemKey(kind: .custom, attributes: ["service": service, "username": "name"]),
      ItemKey(kind: .custom, attributes: ["service": service, "username": ""]),
      ItemKey(kind: .custom, attributes: ["service": service, "label": "name"]),
      ItemKey(
        kind: .custom, attributes: ["service": service, "username": "name", "label": "name"]),
      // An empty part isn't a missing one.
      ItemKey(kind: .password, attributes: ["service": service]),
      ItemKey(kind: .password, attributes: ["service": service, "username": ""]),
      ItemKey(kind: .internetPassword, attributes: ["server": service]),
      ItemKey(kind: .internetPassword, attributes: ["server": service, "user": ""]),
      // A schema is a part of the key, whatever is in it.
      password("name").with(schema: "org.example.Schema"), password("name").with(schema: "name"),
      password("name").with(schema: ":username"), credentials("name").with(schema: "name"),
      ItemKey(kind: .custom, attributes: ["service": service], schema: "username"),
      ItemKey(kind: .internetPassword, attributes: ["server": service], schema: "org.git.Password"),
    ]
    for (index, key) in keys.enumerated() {
      try save("value \(index)", key, mode: .add)
      // In one order, the item with the fewest attributes comes last, in the other it comes first.
      for (earlier, other) in keys[...index].enumerated() {
        try expectStored("value \(earlier)", other, "after saving \(key)")
      }
    }
    for (index, key) in keys.enumerated().reversed() {
      try save("rewritten \(index)", key, mode: .update)
      for (later, other) in keys.enumerated().dropFirst(index) {
        try expectStored("rewritten \(later)", other, "after rewriting \(key)")
      }
    }
    for (index, key) in keys.enumerated() {
      try expect(storage.remove(key), "removing \(key) found nothing")
      for (later, other) in keys.enumerated().dropFirst(index + 1) {
        try expectStored("rewritten \(later)", other, "after removing \(key)")
      }
    }
  }

  func internetPasswordsNeverCollide() throws {
    let keys = internetPasswordKeys
    for (index, key) in keys.enumerated() { try save("value \(index)", key, mode: .add) }
    for (index, key) in keys.enumerated() {
      try expect(secret(key) == Secret("value \(index)"), "\(key) was overwritten")
    }
    for (index, key) in keys.enumerated() { try save("rewritten \(index)", key, mode: .update) }
    for (index, key) in keys.enumerated() {
      try expect(secret(key) == Secret("rewritten \(index)"), "\(key) took another's new secret")
    }
    let found = try storage.items(matching: ofServer)
    try expect(found.count == keys.count, "\(keys.count) internet passwords are \(found.count)")
    try expect(Set(found.map(\.key)) == Set(keys), "the keys of internet passwords read back wrong")
    let removed = try storage.removeItems(matching: ofServer)
    try expect(removed == keys.count, "removing all of a server removed \(removed)")
  }

  /// One key for every combination of present and absent parts other than the server.
  private var internetPasswordKeys: [ItemKey] {
    (0..<64).map { bits in
      func isSet(_ bit: Int) -> Bool { bits & (1 << bit) != 0 }
      return .internetPassword(
        server: InternetServer(
          service,
          port: isSet(0) ? 8443 : nil,
          path: isSet(1) ? "/a path" : nil,
          securityDomain: isSet(2) ? "realm" : nil,
          protocol: isSet(3) ? .https : nil,
          authenticationType: isSet(4) ? .httpBasic : nil),
        account: isSet(5) ? "account" : nil)
    }
  }

  func accessGroupsAreApart() throws {
    let groups = [nil, "group", "another group"]
    for group in groups {
      let scope = storage.service(service, accessGroup: group)
      try scope.password("account").write("password of \(group ?? "none")", mode: .add)
      try scope.value("account").write([1, 2, 3], mode: .add)
    }
    for group in groups {
      let scope = storage.service(service, accessGroup: group)
      let password = try scope.password("account").read()
      try expect(password == "password of \(group ?? "none")", "a group has another's password")
      let accounts = try scope.names()
      try expect(accounts == ["account"], "the accounts of a group are \(accounts)")
    }
    let count = try storage.service(service, accessGroup: "group").removeAll().count
    try expect(count == 2, "removing all of a group with two items removed \(count)")
    let rest = try storage.service(service).removeAll().count
    try expect(rest == 4, "removing all of a service with four items left removed \(rest)")
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
}

extension ItemKind {
  fileprivate static let custom = ItemKind(rawValue: "swift-keyring-contract")
}
