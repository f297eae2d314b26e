// SPDX-License-Identifier: Apache-2.0

internal import Keyring
internal import KeyringPlatform
internal import KeyringStorage

/// The trial of durability: what was acknowledged is there after the backend has restarted.
extension ContractTrial {
  func newItemsAreDurable() throws {
    try forEachEnding { ending in
      var items = [try newItem(password()), try newItem(credentials())]
      // A backend may keep them in a form in which some characters don't last.
      let secrets = ["two\nlines\n", " \\u0041 \"quoted\"\\ ", "\u{1}\u{E4}\u{301}", ""].map {
        Secret($0)
      }
      for secret in secrets + [Secret(bytes: Array(0...255))] {
        let item = SecureItem(key: password("\(items.count)"), secret: secret)
        try storage.save(item, mode: .addOrReplace)
        items.append(item)
      }
      try restart(after: ending)
      try expectOnly(items, "after a restart")
    }
  }

  func changesAreDurable() throws {
    try forEachEnding { ending in
      // A backend may change what it has read from its disk in another way than what is new.
      let old = try Change.allCases.map { try newItem(key(of: $0, "old")) }
      try restart(after: ending)
      let new = try Change.allCases.map { try newItem(key(of: $0, "new")) }
      let changed = try zip(Change.allCases + Change.allCases, old + new).map {
        try changedItem($1, by: $0)
      }
      try expectOnly(changed, "before a restart")
      try restart(after: ending)
      try expectOnly(changed, "after a restart")
    }
  }

  func removalsAreDurable() throws {
    try forEachEnding { ending in
      let kept = try newItem(password("kept"))
      let other = ItemKey.password(service: otherService, account: "account")
      for key in [password("old"), password("changed"), password("again"), other] {
        _ = try newItem(key)
      }
      try restart(after: ending)

      _ = try newItem(password("new"))
      for text in ["second", "third"] { try save(text, password("changed"), mode: .update) }
      for account in ["old", "changed", "again", "new"] {
        try expect(storage.remove(password(account)), "removing \"\(account)\" removed nothing")
      }
      try storage.removeItems(matching: .service(otherService))
      let again = try newItem(password("again"))
      try restart(after: ending)
      try expectOnly([kept, again], "after a restart")
      try expect(!storage.exists(other), "after a restart there is still \(other)")
    }
  }

  private enum Change: CaseIterable { case secret, label, attribute, expiry, everything, login }

  private func key(of change: Change, _ age: String) -> ItemKey {
    change == .login ? credentials(age) : password("\(age) \(change)")
  }

  private func newItem(_ key: ItemKey) throws -> SecureItem {
    var item = SecureItem(
      key: key, secret: Secret("first"), label: "A label", attributes: ["environment": "test"])
    item.expires = Date(timeIntervalSince1970: 1_900_000_000)
    if key.kind == .credentials { item.attributes?["username"] = "first" }
    try storage.save(item, mode: .addOrReplace)
    return item
  }

  /// Changes an item, and returns it as it must be afterwards.
  private func changedItem(_ item: SecureItem, by change: Change) throws -> SecureItem {
    var part = SecureItem(key: item.key)
    switch change {
    case .secret: part.secret = Secret("changed")
    case .label: part.label = "Changed"
    case .attribute: part.attributes = ["environment": "live"]
    case .expiry: part.expires = Date(timeIntervalSince1970: 2_000_000_000)
    case .everything:
      try save("second", item.key, mode: .update)
      part.secret = Secret("third")
      part.expires = Date(timeIntervalSince1970: 2_100_000_000)
      try storage.save(part, mode: .update)
      part.secret = Secret("changed")
      part.label = "Changed"
    case .login:
      try storage[item.key, as: .credential].write(Credential(login: "second", password: "second"))
      part.secret = Secret("changed")
      part.attributes = ["username": "changed"]
    }
    try storage.save(part, mode: .update)
    var changed = item
    changed.secret = part.secret ?? item.secret
    changed.label = part.label ?? item.label
    changed.attributes = (item.attributes ?? [:]).merging(part.attributes ?? [:]) { $1 }
    return changed
  }

  /// Expects these items of the service and no others.
  private func expectOnly(_ expected: [SecureItem], _ moment: String) throws {
    let found = try storage.items(matching: .service(service, details: .all))
    let keys = (found: Set(found.map(\.key)), expected: Set(expected.map(\.key)))
    let lost = keys.expected.subtracting(keys.found)
    try expect(lost.isEmpty, "\(moment) these items are lost: \(lost)")
    let left = keys.found.subtracting(keys.expected)
    try expect(left.isEmpty, "\(moment) these items are there again: \(left)")
    try expect(found.count == expected.count, "\(moment) a key has several items")
    for item in expected {
      guard let found = try storage.item(for: item.key, details: .all) else {
        throw violation("\(moment) an item is listed, but not found: \(item.key)")
      }
      func expectSame<Part: Equatable>(_ part: String, _ value: (SecureItem) -> Part?) throws {
        try expect(
          value(item) == nil || value(found) == value(item),
          "\(moment) the \(part) of \(item.key) is another one")
      }
      try expectSame("secret", \.secret)
      try expectSame("label", \.label)
      try expectSame("expiry", \.expires)
      try expectSame("list of attributes", \.attributes)
    }
  }

  /// Runs a closure for each end of the backend that the storage promises to survive.
  private func forEachEnding(_ body: (StorageContract.Ending) throws -> Void) throws {
    let durability = storage.durability
    let endings = StorageContract.Ending.allCases.filter { durability >= $0.promise }
    for ending in endings {
      do {
        try body(ending)
        try removeEverything()
      } catch let violation as ContractViolation where endings.count > 1 {
        throw self.violation("\(violation.finding) (\(ending))")
      }
    }
  }
}
