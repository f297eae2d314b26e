// SPDX-License-Identifier: Apache-2.0

internal import Keyring
internal import KeyringStorage
internal import Synchronization

// Rules 2 and 3: saving replaces the right item, in a single step.
extension ContractTrial {
  func savingReplacesOne() throws {
    let key = password()
    for text in ["first", "second", "third"] {
      try save(text, key)
      try expectStored(text, key, "after saving")
    }
    try save("updated", key, mode: .update)
    try expectStored("updated", key, "after updating")
    let count = try storage.items(matching: .service(service)).count
    try expect(count == 1, "saving one key four times left \(count) items")
  }

  func addRefusesPresent() throws {
    try save("first", password(), mode: .add)
    try expect(.itemAlreadyExists, of: "adding a present item") {
      try save("second", password(), mode: .add)
    }
    try expectStored("first", password(), "after a refused addition")
  }

  func updateRefusesAbsent() throws {
    try expect(.itemNotFound, of: "updating an absent item") {
      try save("first", password(), mode: .update)
    }
    try expect(!storage.exists(password()), "a refused update made an item")
  }

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

  func newLoginLeavesOneItem() throws {
    let label = "account"
    for number in 1...3 {
      let credential = Credential(login: "login \(number)", password: "password \(number)")
      try storage[credentials(label), as: .credential].write(credential)
      let found = try storage[credentials(label), as: .credential].read()
      try expect(found == credential, "after a new login the credential is another one")
      let count = try storage.items(matching: .service(service)).count
      try expect(count == 1, "after a new login there are \(count) items")
    }
  }

  func credentialsAreNeverMixed() throws {
    @Sendable func pair(_ number: Int) -> Credential {
      Credential(login: "login \(number)", password: "login \(number)")
    }
    try storage[credentials("account"), as: .credential].write(pair(0))
    let isWriting = Atomic(true)
    let read: @Sendable () throws -> Void = {
      repeat {
        let found = try storage[credentials("account"), as: .credential].read()
        try expect(found != nil, "a reader found nothing while the credential was rewritten")
        try expect(
          found?.login == found?.password, "a reader found a login with another's password")
      } while isWriting.load(ordering: .acquiring)
    }
    try Self.concurrently([
      {
        defer { isWriting.store(false, ordering: .releasing) }
        for number in 1...50 {
          try storage[credentials("account"), as: .credential].write(pair(number))
        }
      }, read, read,
    ])
  }
}

extension ItemKind {
  fileprivate static let custom = ItemKind(rawValue: "swift-keyring-contract")
}
