// SPDX-License-Identifier: Apache-2.0

internal import Keyring
internal import KeyringPlatform
internal import KeyringStorage

// Rule 7: queries by other criteria than keys and attributes.
extension ContractTrial {
  func queriesNarrowDown() throws {
    let start = Date()
    try storage.save(
      SecureItem(key: password("one"), secret: Secret("1"), label: "\(service) Label"), mode: .add)
    try storage.save(
      SecureItem(key: password("TWO"), secret: Secret("2"), attributes: ["Mixed": "Case"]),
      mode: .add)
    let credential = credentials("three")
    try storage[credential, as: .credential].write(Credential(login: "login", password: "3"))

    try expectFound([password("one")], ItemQuery(label: "\(service) Label"), "by label")
    try expectFound([], ItemQuery(label: "\(service) label"), "by a label in another case")
    try expectFound(
      [password("one")], ItemQuery(label: "\(service) LABEL", ignoresCase: true),
      "by a label, ignoring case")
    try expectFound([credential], .service(service, kind: .credentials), "by kind")

    var query = ItemQuery(attributes: ["service": service.uppercased(), "username": "two"])
    try expectFound([], query, "by attributes in another case")
    query.ignoresCase = true
    try expectFound([password("TWO")], query, "by attributes, ignoring case")
    try expectFound(
      [password("TWO")],
      ItemQuery(attributes: ["service": service, "Mixed": "CASE"], ignoresCase: true),
      "by another attribute, ignoring case")

    query = .service(service)
    let all = [password("one"), password("TWO"), credential]
    for range in [start...Date.distantFuture, Date.distantPast...(Date() + 1)] {
      query.created = range
      query.modified = range
      try expectFound(all, query, "by a time that includes all")
    }
    query.created = Date.distantPast...(start - 2)
    try expectFound([], query, "created before any was")
    query.created = nil
    query.modified = (Date() + 60)...Date.distantFuture
    try expectFound([], query, "modified in the future")
    var count = try storage.removeItems(matching: query)
    try expect(count == 0, "a removal by time removed \(count) items of another time")
    count = try storage.removeItems(
      matching: ItemQuery(label: "\(service) LABEL", ignoresCase: true))
    try expect(count == 1, "a removal by label, ignoring case, removed \(count) items")
    try expectFound([password("TWO"), credential], .service(service), "after a removal by label")
  }

  private func expectFound(_ keys: [ItemKey], _ query: ItemQuery, _ way: String) throws {
    let found = try storage.items(matching: query).map(\.key)
    try expect(
      found.count == keys.count && Set(found) == Set(keys), "a search \(way) found \(found)")
  }

  func commentsAndLocksAreMetadata() throws {
    var item = SecureItem(key: password(), secret: Secret("s3cret"))
    item.comment = "a comment"
    try storage.save(item, mode: .add)
    let found = try storage.item(for: password(), details: .metadata)
    try expect(
      found?.comment == "a comment", "the comment reads back as \(found?.comment ?? "none")")
    try expect(found?.isLocked == false, "an unlocked item does not say so")
    item.secret = nil
    item.comment = "another comment"
    try storage.save(item, mode: .update)
    let changed = try storage.item(for: password())
    try expect(changed?.comment == "another comment", "the comment did not change")
    try expect(changed?.secret == Secret("s3cret"), "changing the comment changed the secret")
  }

  func lockedItemsAreListed() throws {
    try save("present", password())
    try whileLocked { storage in
      for var query in [ItemQuery.service(service), .key(password())] {
        query.details = .all
        query.allowsUnlocking = false
        let items = try storage.items(matching: query)
        try expect(items.map(\.key) == [password()], "a locked item is not listed")
        try expect(items.first?.isLocked == true, "a locked item does not say so")
        try expect(items.first?.secret == nil, "a locked item has a secret")
      }
      try expect(storage.isLocked(), "listing unlocked the storage")
    }
  }
}
