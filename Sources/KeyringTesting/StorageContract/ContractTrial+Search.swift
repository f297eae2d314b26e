// SPDX-License-Identifier: Apache-2.0

internal import Keyring
internal import KeyringPlatform
internal import KeyringStorage

/// The trial of searches: by attributes, labels, kinds and times, and with a limit.
extension ContractTrial {
  func attributesAreSearchable() throws {
    for (account, environment) in [("one", "test"), ("two", "live"), ("three", "test")] {
      try storage.save(
        SecureItem(
          key: password(account), secret: Secret(account),
          attributes: ["environment": environment]), mode: .add)
    }
    var query = ItemQuery(
      attributes: ["service": service, "environment": "test"], details: .secret)
    try expectFound([password("one"), password("three")], query, "by attribute")
    for item in try storage.items(matching: query) {
      let account = item.key.attributes["username"] ?? ""
      try expect(item.secret == Secret(account), "a search found \(item.key) with another's secret")
    }
    query.limit = 1
    let limited = try storage.items(matching: query).count
    try expect(limited == 1, "a search limited to one item found \(limited)")

    // A changed attribute is found by its new value and no longer by its old one.
    try storage.save(
      SecureItem(
        key: password("one"), secret: Secret("one"), attributes: ["environment": "live"]),
      mode: .update)
    query.attributes["environment"] = "live"
    query.limit = nil
    try expectFound(
      [password("one"), password("two")], query, "by an attribute that has changed")
    let count = try storage.items(matching: .service(service)).count
    try expect(count == 3, "changing an attribute left \(count) items instead of 3")
  }

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

  func limitedQueriesAreTheBeginning() throws {
    let accounts = ["one", "two", "three", "four", "five", "six"]
    for account in accounts { try save(account, password(account)) }
    // An item that is saved again may come first or keep its position, with a limit too.
    try save("changed", password("two"))
    for details in [ItemQuery.Details.metadata, .all] {
      var query = ItemQuery.service(service, details: details)
      let all = try storage.items(matching: query)
      try expect(
        all.count == accounts.count, "a search found \(all.count) items of \(accounts.count)")
      for limit in 1...(accounts.count + 1) {
        query.limit = limit
        let found = try storage.items(matching: query)
        try expect(
          found == Array(all.prefix(limit)),
          "a search limited to \(limit) found \(found.map(\.key)) instead of the first of \(all.map(\.key))"
        )
      }
    }
    var query = ItemQuery.service(service, details: .metadata)
    let all = try storage.items(matching: query).map(\.key)
    query.details = []
    query.limit = 3
    let found = try storage.items(matching: query).map(\.key)
    try expect(
      found == Array(all.prefix(3)), "a search for keys, limited to 3, found \(found) of \(all)")
  }
}
